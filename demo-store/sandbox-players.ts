/** A player of the Steam sandbox, whose trade link a visitor can try. `line`: how the sandbox describes the player. */
export type Player = { name: string; tradeUrl: string; line: string }

/** Short, because the store's page waits for the sandbox. */
const DEADLINE_MS = 2_000
const MOST_PLAYERS = 10

/** Resolves to undefined if the sandbox gives no readable answer. */
export async function readPlayers(sandboxUrl: string): Promise<Player[] | undefined> {
  try {
    const response = await fetch(`${sandboxUrl}/control/players`, {
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const body: unknown = await response.json()
    return Array.isArray(body) ? body.flatMap(playerOf).slice(0, MOST_PLAYERS) : undefined
  } catch {
    return undefined
  }
}

function playerOf(value: unknown): Player[] {
  if (typeof value !== 'object' || value === null) return []
  const [name, tradeUrl, line] = ['name', 'tradeUrl', 'line'].map((key): unknown => Reflect.get(value, key))
  if (typeof name !== 'string' || typeof tradeUrl !== 'string') return []
  return [{ name, tradeUrl, line: typeof line === 'string' ? line : '' }]
}
