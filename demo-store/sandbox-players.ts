/** The people of the Steam sandbox: a visitor can try their trade links. */
export type Player = { name: string; tradeUrl: string }

const DEADLINE_MS = 2_000
const MOST_PLAYERS = 10

/** Undefined when the sandbox does not answer. */
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
