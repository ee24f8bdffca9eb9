import './solution-links.css'
import { addressIn } from '../../contract/languages.ts'
import { steamAddress } from '../page.tsx'
import type { SteamPage } from '../steam-pages.ts'
import { type Look, OutsideLink } from '../ui/outside-link.tsx'
import { useRestTexts } from './texts.ts'

export function SteamLink({ to, look = 'button primary' }: { to: SteamPage; look?: Look }) {
  const { texts } = useRestTexts()
  return <OutsideLink href={steamAddress(to)} look={look} text={texts.steamPages[to]} />
}

type StoreLinkProps = { url: string; isPrimary?: boolean; name?: string }

/** Shown only for a web address, because the address came from a store. */
export function StoreLink({ url, isPrimary = false, name }: StoreLinkProps) {
  const { texts, language } = useRestTexts()
  if (!/^https?:\/\//i.test(url)) return null
  return (
    <a className={isPrimary ? 'button primary' : 'link'} href={addressIn(url, language)}>
      {name ?? texts.backToStore}
    </a>
  )
}
