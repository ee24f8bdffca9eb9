/** The games a shopper may pay with, by their names in calls. */
export const GAMES = ['cs', 'dota', 'rust', 'tf'] as const

export type Game = (typeof GAMES)[number]

export const DEFAULT_GAME: Game = 'cs'

/** The phases of a Doppler: the colours of weapons that share a market name. */
export const PHASES = [
  'phase1',
  'phase2',
  'phase3',
  'phase4',
  'ruby',
  'sapphire',
  'blackPearl',
  'emerald',
] as const

export type Phase = (typeof PHASES)[number]

/** The English names, in the spelling of the markets. */
export const PHASE_NAMES: Readonly<Record<Phase, string>> = {
  phase1: 'Phase 1',
  phase2: 'Phase 2',
  phase3: 'Phase 3',
  phase4: 'Phase 4',
  ruby: 'Ruby',
  sapphire: 'Sapphire',
  blackPearl: 'Black Pearl',
  emerald: 'Emerald',
}

type GameFacts = {
  /** Steam's application id. */
  appId: number
  /** The inventory context that holds tradable items. */
  contextId: '2'
  title: string
  /** The smallest total of one trade, in US cents. */
  minSumUsdCents: number
}

export const GAME_FACTS: Record<Game, GameFacts> = {
  cs: { appId: 730, contextId: '2', title: 'Counter-Strike 2', minSumUsdCents: 300 },
  dota: { appId: 570, contextId: '2', title: 'Dota 2', minSumUsdCents: 100 },
  rust: { appId: 252490, contextId: '2', title: 'Rust', minSumUsdCents: 100 },
  tf: { appId: 440, contextId: '2', title: 'Team Fortress 2', minSumUsdCents: 100 },
}
