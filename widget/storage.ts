/** Values that survive a reload. Blocked storage counts as empty. */
import { isLanguage, type Language } from '../contract/languages.ts'
import type { OfferedPicks, OpenPicks } from './flow/state.ts'

const LINK = 'tradeLink'
const LANGUAGE = 'language'
const OFFER = 'openOffer'
const PICKS = 'picks'
const OPEN_PICKS = 'openPicks'

type StorageName = 'localStorage' | 'sessionStorage'

function read(key: string, storage: StorageName = 'localStorage'): string | null {
  try {
    return globalThis[storage].getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string, storage: StorageName = 'localStorage'): void {
  try {
    globalThis[storage].setItem(key, value)
  } catch {
    // The page works without storage.
  }
}

function forget(key: string, storage: StorageName = 'localStorage'): void {
  try {
    globalThis[storage].removeItem(key)
  } catch {
    // Blocked storage cannot be read either.
  }
}

export function storedLanguage(): Language | null {
  const value = read(LANGUAGE)
  return isLanguage(value) ? value : null
}

export const storedLink = (): string | null => read(LINK)
export const storeLanguage = (language: Language): void => write(LANGUAGE, language)
export const storeLink = (link: string): void => write(LINK, link)

/** The hash of the last deposit that this browser saw with an open offer. */
export const storedOffer = (): string | null => read(OFFER)
export const storeOffer = (hash: string): void => write(OFFER, hash)

export function forgetOffer(hash: string): void {
  if (read(OFFER) === hash) forget(OFFER)
}

/** The picks of this tab's last offer. A later release may read them: if their form changes, so must the key. */
export function storedPicks(): OfferedPicks | null {
  try {
    const picks = JSON.parse(read(PICKS, 'sessionStorage') ?? 'null') as OfferedPicks | null
    return Array.isArray(picks?.items) ? picks : null
  } catch {
    return null
  }
}

export const storePicks = (picks: OfferedPicks): void => write(PICKS, JSON.stringify(picks), 'sessionStorage')
export const forgetPicks = (): void => forget(PICKS, 'sessionStorage')

/** The most deposits for which the tab keeps picks. A shopper may go back and forth between several. */
const MOST_OPEN_PICKS = 5

/** The picks that this tab keeps, newest first. As with `storedPicks`, the key must change with the form. */
function allOpenPicks(): OpenPicks[] {
  try {
    const stored = JSON.parse(read(OPEN_PICKS, 'sessionStorage') ?? '[]') as OpenPicks[]
    return stored.filter((picks) => typeof picks?.byGame === 'object' && picks.byGame !== null)
  } catch {
    return []
  }
}

export const storedOpenPicks = (hash: string): OpenPicks | null =>
  allOpenPicks().find((picks) => picks.hash === hash) ?? null

/** Replaces the picks of this deposit. Null: forgets them. */
export function storeOpenPicks(hash: string, picks: OpenPicks | null): void {
  const others = allOpenPicks().filter((other) => other.hash !== hash)
  const kept = picks === null ? others : [picks, ...others].slice(0, MOST_OPEN_PICKS)
  if (kept.length === 0) forget(OPEN_PICKS, 'sessionStorage')
  else write(OPEN_PICKS, JSON.stringify(kept), 'sessionStorage')
}

/** The language that the shopper chose for this deposit in this tab. */
export function chosenLanguage(hash: string): Language | null {
  const [storedHash, language] = read(LANGUAGE, 'sessionStorage')?.split(' ') ?? []
  return storedHash === hash && isLanguage(language) ? language : null
}

export const storeChosenLanguage = (hash: string, language: Language): void =>
  write(LANGUAGE, `${hash} ${language}`, 'sessionStorage')
