import type { Game } from '../../../contract/games.ts'
import { REFERENCE_SOURCE } from '../exchange.ts'
import { FILE_SOURCE, OPERATOR_SOURCE } from '../price.ts'

/** market.csgo.com has a sister market for each other game. */
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

/** Returns null for the operator's own list or price, and the id of a source that this version does not know. */
export function shopperNameOf(source: string, game: Game): string | null {
  if (source === FILE_SOURCE || source === OPERATOR_SOURCE) return null
  return source === 'market' ? MARKETS[game] : (NAMES.get(source) ?? source)
}
