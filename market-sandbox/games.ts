/** The games, each with its host in the family of market.csgo.com. */
export const GAMES = [
  { appId: 730, host: 'market.csgo.com', name: 'Counter-Strike 2' },
  { appId: 570, host: 'market.dota2.net', name: 'Dota 2' },
  { appId: 440, host: 'tf2.tm', name: 'Team Fortress 2' },
  { appId: 252490, host: 'rust.tm', name: 'Rust' },
] as const

export function appOf(host: string): number | undefined {
  return GAMES.find((game) => game.host === host)?.appId
}

/** Steam's app ids by Waxpeer's names for the games. */
export const WAXPEER_GAMES: Readonly<Record<string, number>> = {
  csgo: 730,
  dota2: 570,
  tf2: 440,
  rust: 252490,
}

export function gameName(appId: number): string {
  return GAMES.find((game) => game.appId === appId)?.name ?? String(appId)
}

/** How many units of an integer price make one dollar, euro or rouble. */
export const SCALES = { USD: 1000, EUR: 1000, RUB: 100 } as const
export type Currency = keyof typeof SCALES

export function isCurrency(value: unknown): value is Currency {
  return typeof value === 'string' && Object.hasOwn(SCALES, value)
}
