/** The players of the Steam sandbox, whose trade links a visitor can try. */
export type Player = { name: string; tradeUrl: string }

const DEADLINE_MS = 2_000
const MOST_PLAYERS = 10

/** Reads the players. Resolves to undefined if the sandbox does not answer. */
export async function readPlayers(sandboxUrl: string): Promise<Player[] | undefined> {
  try {
    const response = await fetch(`${sandboxUrl}/control/players`, {
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const body: unknown = await response.json()
    return Array.isArray(body) ? body.filter(isPlayer).slice(0, MOST_PLAYERS) : undefined
  } catch {
    return undefined
  }
}

function isPlayer(value: unknown): value is Player {
  if (typeof value !== 'object' || value === null) return false
  return typeof Reflect.get(value, 'name') === 'string' && typeof Reflect.get(value, 'tradeUrl') === 'string'
}
