/** Links to pages where the shopper can solve a problem. */

import './doors.css'
import { steamAddress } from '../page.tsx'
import type { SteamPage } from '../steam-pages.ts'
import { type Look, OutsideLink } from '../ui/outside-link.tsx'
import { useRest } from './texts.ts'

/** A link to the page of Steam where the shopper can solve the problem. */
export function SteamDoor({ to, look = 'button primary' }: { to: SteamPage; look?: Look }) {
  const { texts } = useRest()
  return (
    <OutsideLink href={steamAddress(to)} look={look}>
      {texts.steamPages[to]}
    </OutsideLink>
  )
}

/** A link to the store. Shown only for a web address, because the address came from a store. */
export function StoreDoor({ url, primary = false }: { url: string; primary?: boolean }) {
  const { texts } = useRest()
  if (!/^https?:\/\//i.test(url)) return null
  return (
    <a className={primary ? 'button primary' : 'link'} href={url}>
      {texts.backToStore}
    </a>
  )
}
