/** The phases of Dopplers: weapons that share a market name and differ in price. Pure. */
import { type Game, PHASE_NAMES, PHASES, type Phase } from '../../contract/games.ts'
import type { SteamItem } from '../steam/steam.ts'

const PHASE_OF_PAINT: ReadonlyMap<number, Phase> = new Map([
  // Doppler
  [415, 'ruby'],
  [416, 'sapphire'],
  [417, 'blackPearl'],
  [418, 'phase1'],
  [419, 'phase2'],
  [420, 'phase3'],
  [421, 'phase4'],
  // Doppler of the knives with another pattern
  [617, 'blackPearl'],
  [618, 'phase2'],
  [619, 'sapphire'],
  [852, 'phase1'],
  [853, 'phase2'],
  [854, 'phase3'],
  [855, 'phase4'],
  // Gamma Doppler
  [568, 'emerald'],
  [569, 'phase1'],
  [570, 'phase2'],
  [571, 'phase3'],
  [572, 'phase4'],
  // Gamma Doppler of the Glock-18
  [1119, 'emerald'],
  [1120, 'phase1'],
  [1121, 'phase2'],
  [1122, 'phase3'],
  [1123, 'phase4'],
])

/** The word that marks a Doppler. An item's market name is English, whatever the requested language. */
const DOPPLER = ' Doppler '

type Painted = Pick<SteamItem, 'marketHashName' | 'paintIndex'>

/** Returns the phase of a Doppler by its paint number; undefined for other items and unknown paints. */
export function phaseOf({ marketHashName, paintIndex }: Painted, game: Game): Phase | undefined {
  const isDoppler = game === 'cs' && paintIndex !== null && `${marketHashName} `.includes(DOPPLER)
  return isDoppler ? PHASE_OF_PAINT.get(paintIndex) : undefined
}

/** Returns the phase that a market calls by this word, if the item is a Doppler. */
export function phaseFromWord(marketHashName: string, word: string | null | undefined): Phase | undefined {
  if (!`${marketHashName} `.includes(DOPPLER)) return undefined
  return PHASES.find((phase) => PHASE_NAMES[phase] === word)
}

/** The name of a phase in price holds, quotes and stored prices: `★ Karambit | Doppler (Factory New) [Ruby]`. */
export const phaseName = (marketHashName: string, phase: Phase): string =>
  `${marketHashName} [${PHASE_NAMES[phase]}]`

/** The market name in the name of a phase; undefined for every other name. */
export function marketNameOf(name: string): string | undefined {
  const end = name.lastIndexOf(' [')
  const marketHashName = name.slice(0, Math.max(0, end))
  const phase = phaseFromWord(marketHashName, name.slice(end + 2, -1))
  return phase !== undefined && phaseName(marketHashName, phase) === name ? marketHashName : undefined
}

/** The names under which an item can have a price: the name of its phase, if it has one, and its market name. */
export function priceNamesOf(item: Painted, game: Game): string[] {
  const phase = phaseOf(item, game)
  const { marketHashName } = item
  return phase === undefined ? [marketHashName] : [phaseName(marketHashName, phase), marketHashName]
}
