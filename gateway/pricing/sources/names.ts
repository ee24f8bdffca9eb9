import type { Game } from '../../../contract/games.ts'
import { REFERENCE_SOURCE } from '../exchange.ts'
import { FILE_SOURCE, OPERATOR_SOURCE } from '../price.ts'

/** market.csgo.com has a sister market for each of the other games. */
const MARKETS: Record<Game, string> = {
  cs: 'market.csgo.com',
  dota: 'market.dota2.net',
  rust: 'rust.tm',
  tf: 'tf2.tm',
}

const NAMES = new Map([
  ['skinport', 'Skinport'],
  ['waxpeer', 'Waxpeer'],
  ['csfloat', 'CSFloat'],
  ['er-api', 'ExchangeRate-API'],
  [REFERENCE_SOURCE, 'European Central Bank'],
])

/** Null for the operator's own list or price. A source that this version does not know is shown by its id. */
export function shownNameOf(source: string, game: Game): string | null {
  if (source === FILE_SOURCE || source === OPERATOR_SOURCE) return null
  return source === 'market' ? MARKETS[game] : (NAMES.get(source) ?? source)
}
