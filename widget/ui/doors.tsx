/** Ways out of a trouble. */
import { usePage } from '../page.tsx'
import { STEAM_PAGES, type SteamPage } from '../steam-pages.ts'
import { OutsideIcon } from './icons.tsx'

type Look = 'button primary' | 'button' | 'link'

/** To the page of Steam where the shopper can solve it. */
export function SteamDoor({ to, look = 'button primary' }: { to: SteamPage; look?: Look }) {
  const { texts } = usePage()
  return (
    <a className={look} href={STEAM_PAGES[to]} target="_blank" rel="noopener noreferrer">
      {texts.steamPages[to]} <OutsideIcon />
    </a>
  )
}

/** Leads only where a browser opens a page: the address came from a store. */
export function StoreDoor({ url, primary = false }: { url: string; primary?: boolean }) {
  const { texts } = usePage()
  if (!/^https?:\/\//i.test(url)) return null
  return (
    <a className={primary ? 'button primary' : 'link'} href={url}>
      {texts.backToStore}
    </a>
  )
}
