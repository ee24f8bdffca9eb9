/** `market` and its switches: on which markets the vault sells, and whether it sells there now. */

import type { MarketName } from '../../contract/markets.ts'
import { readAccounts } from '../files/accounts.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { type MarketAccess, readMarkets, saveMarket, switchMarket } from '../files/markets.ts'
import type { Settings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'

export type MarketFlags = { account: string; mayLose: boolean; sellsItself: boolean }

/** Sets up a market for an account. Asks a person for the market's key, or reads it from a pipe. */
export async function addMarket(
  settings: Settings,
  terminal: Terminal,
  { market, account, mayLose, sellsItself }: MarketFlags & { market: MarketName },
): Promise<void> {
  const folder = openFolder(settings.folder)
  const key = openKey(folder)
  const seller = readAccounts(folder, key).find(({ steamId }) => steamId === account)
  if (seller === undefined) throw new Refusal(`The vault has no account ${account}: enrol it first.`)
  if (seller.sells && sellsItself)
    throw new Refusal(`${account} only sells: --sells-itself is for a bot that collects deposits.`)
  if (!seller.sells && !sellsItself) {
    throw new Refusal(
      `${account} collects deposits. Enrol an account that only sells (enrol --sells), or see --sells-itself.`,
    )
  }
  if (sellsItself) await warn(terminal, { market, account })
  const [piped] = terminal.isPerson ? [] : await terminal.lines()
  const secret = (piped ?? (await terminal.ask(`Key of ${market}`, { hidden: true }))).trim()
  if (!/^[\x21-\x7e]{8,128}$/.test(secret))
    throw new Refusal("That cannot be a market's key, which has 8 to 128 characters and no spaces.")
  const flags = { mayLose, sellsItself }
  const { isOff } = saveMarket(folder, key, { market, steamId: account, key: secret, ...flags })
  terminal.print(`${market} is set up for ${account}: ${flagsText({ ...flags, isOff })}. Restart the vault.`)
  if (isOff) terminal.print('It is still switched off. To list there again, use market-on.')
}

/** Explains the risk, and asks a person for a yes. Input from a pipe counts as a yes. */
async function warn(
  terminal: Terminal,
  { market, account }: { market: string; account: string },
): Promise<void> {
  for (const line of [
    `${account} collects deposits. To sell its own items, this bot must give ${market} a full web session.`,
    "With it, the market can read, decline, accept and cancel the bot's offers: it can end your shoppers' deposits,",
    'and sees who they are. It cannot confirm an offer that gives items away.',
    'With an account that only sells, no session is shared.',
  ])
    terminal.print(line)
  if (!terminal.isPerson) return
  const answer = await terminal.ask('Type yes to let it sell its own items anyway')
  if (answer.trim() !== 'yes') throw new Refusal('Nothing was changed.')
}

export type SwitchFlags = { account?: string | undefined }

/** Switches a market off or on, for one account or for all. Refuses if no such account is set up there. */
export function switchMarketAt(
  settings: Settings,
  terminal: Terminal,
  { market, account, isOff }: SwitchFlags & { market: MarketName; isOff: boolean },
): void {
  if (!switchMarket(openFolder(settings.folder), { market, steamId: account }, isOff)) {
    throw new Refusal(`${account ?? market} is not set up: add it with the command market.`)
  }
  const subject = account === undefined ? market : `${market} for ${account}`
  terminal.print(
    isOff
      ? `${subject} is off: its listings come down within a minute.`
      : `${subject} is on, unless it is switched off at the till.`,
  )
}

export function showMarkets(settings: Settings, terminal: Terminal): void {
  const folder = openFolder(settings.folder)
  for (const access of readMarkets(folder, openKey(folder)))
    terminal.print(`${access.market}\t${access.steamId}\t${flagsText(access)}`)
}

function flagsText({
  isOff,
  mayLose,
  sellsItself,
}: Pick<MarketAccess, 'isOff' | 'mayLose' | 'sellsItself'>): string {
  const words = [isOff ? 'off' : 'on', mayLose ? 'below cost too' : 'never below cost']
  if (sellsItself) words.push('a bot that collects deposits: the market has a session token of the bot')
  return words.join(', ')
}
