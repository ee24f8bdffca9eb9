/** `market` and `switch`: where the vault sells, and whether it does. */
import { readAccounts } from '../files/accounts.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { keepMarket, type MarketName, readMarkets, switchMarket } from '../files/markets.ts'
import type { Settings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'

export type MarketFlags = { account: string; mayLose: boolean }

/** Asks a person for the key, or reads it from a pipe. */
export async function addMarket(
  settings: Settings,
  terminal: Terminal,
  { market, account, mayLose }: MarketFlags & { market: MarketName },
): Promise<void> {
  const folder = openFolder(settings.folder)
  const key = openKey(folder)
  const seller = readAccounts(folder, key).find(({ steamId }) => steamId === account)
  if (seller === undefined) throw new Refusal(`The vault has no account ${account}: enrol --sells first.`)
  if (!seller.sells) {
    throw new Refusal(`${account} collects items. Enrol an account that only sells: enrol --sells.`)
  }
  const [piped] = terminal.isPerson ? [] : await terminal.lines()
  const secret = (piped ?? (await terminal.ask(`Key of ${market}`, { hidden: true }))).trim()
  if (!/^[\x21-\x7e]{8,128}$/.test(secret)) throw new Refusal('That is no key of a market.')
  keepMarket(folder, key, { market, steamId: account, mayLose, isOff: false, key: secret })
  terminal.print(`${market} is set up for ${account}. Restart the vault.`)
}

export function turnMarket(
  settings: Settings,
  terminal: Terminal,
  { market, isOff }: { market: MarketName; isOff: boolean },
): void {
  if (!switchMarket(openFolder(settings.folder), market, isOff)) {
    throw new Refusal(`${market} is not set up: see the command market.`)
  }
  terminal.print(
    isOff
      ? `${market} is off: within a minute nothing is listed there any longer.`
      : `${market} is on, unless the till has it off.`,
  )
}

export function showMarkets(settings: Settings, terminal: Terminal): void {
  const folder = openFolder(settings.folder)
  for (const { market, steamId, isOff, mayLose } of readMarkets(folder, openKey(folder))) {
    const words = [isOff ? 'off' : 'on', mayLose ? 'below cost too' : 'never below cost']
    terminal.print(`${market}\t${steamId}\t${words.join(', ')}`)
  }
}
