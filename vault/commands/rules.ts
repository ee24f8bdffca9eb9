import { decimalOf } from '../../contract/money.ts'
import { openFolder } from '../files/folder.ts'
import { changeRules, isDestinationName, readRules } from '../files/rules.ts'
import { partnerOfLink } from '../files/trade-link.ts'
import type { Settings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'

export function allow(
  settings: Settings,
  terminal: Terminal,
  { name, link }: { name: string; link: string },
): void {
  const partner = partnerOfLink(link)
  if (partner === undefined) throw new Refusal('LINK must be a trade link, with partner and token.')
  if (!isDestinationName(name))
    throw new Refusal(
      'NAME must have 1 to 40 lower-case letters, digits and hyphens, and must not begin with a hyphen.',
    )
  changeRules(openFolder(settings.folder), (rules) => ({
    ...rules,
    destinations: { ...rules.destinations, [name]: { steamId: partner.steamId, tradeLink: link.trim() } },
  }))
  terminal.print(`Items may go to ${name}, ${partner.steamId}. Restart the vault.`)
}

export type LimitFlags = { usdAnHour: string; usdADay: string; itemsAnHour: number }

export function limits(settings: Settings, terminal: Terminal, flags: LimitFlags): void {
  changeRules(openFolder(settings.folder), (rules) => ({ ...rules, limits: flags }))
  terminal.print('The limits were changed. Restart the vault.')
}

export function showRules(settings: Settings, terminal: Terminal): void {
  const { destinations, limits, centsWithoutPrice } = readRules(openFolder(settings.folder))
  const usd = (cents: bigint): string => `${decimalOf(cents, 'USD')} USD`
  for (const [name, { steamId }] of Object.entries(destinations)) terminal.print(`to ${name}\t${steamId}`)
  terminal.print(`at most ${usd(limits.centsAnHour)} an hour, ${usd(limits.centsADay)} a day`)
  terminal.print(`at most ${limits.itemsAnHour} items an hour`)
  terminal.print(`an item without a price counts for ${usd(centsWithoutPrice)}`)
}
