/** Finds settings that nothing reads, such as misspelt ones: the till would run with a default instead. */

/** Settings that other programs of Tradetill read, and may share with the gateway. */
const OF_OTHER_PROGRAMS = [
  'TRADETILL_DATA_ROOT',
  'TRADETILL_MARKET_SANDBOX_URL',
  'TRADETILL_VAULT',
  'TRADETILL_VAULT_DATABASE_URL',
  // The test against the real Steam.
  'TRADETILL_LIVE_ACCEPT',
  'TRADETILL_LIVE_GAME',
  'TRADETILL_LIVE_ITEM',
  'TRADETILL_LIVE_REFRESH_TOKEN',
  'TRADETILL_LIVE_TRADE_LINK',
  // A store's server, in the store guide.
  'TRADETILL_API_KEY',
  'TRADETILL_URL',
  'TRADETILL_WEBHOOK_SECRET',
]

export type UnknownSetting = {
  name: string
  /** The known setting with the most similar name, if one is so similar that the name may be a misspelling of it. */
  meant: string | undefined
}

/** At most this many letters of a misspelt name are wrong, missing or too many. */
const MOST_WRONG_LETTERS = 2

/** Returns the names that begin with TRADETILL_ and are not known, in alphabetical order. */
export function unknownSettings(
  names: readonly string[],
  gatewaySettings: readonly string[],
): UnknownSetting[] {
  const known = [...gatewaySettings, ...OF_OTHER_PROGRAMS]
  return names
    .filter((name) => name.startsWith('TRADETILL_') && !known.includes(name))
    .sort()
    .map((name) => ({ name, meant: mostSimilar(name, known) }))
}

function mostSimilar(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= MOST_WRONG_LETTERS)
    .sort((one, other) => one.distance - other.distance)
  return best?.candidate
}

/** The Levenshtein distance: the fewest letters to insert, delete or replace that turn `from` into `to`. */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const line = [row + 1]
    for (const [column, other] of [...to].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1)
      line.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (line[column] ?? 0) + 1))
    }
    above = line
  }
  return above[to.length] ?? 0
}

/** `NAME (did you mean OTHER?)` */
export const unknownSettingText = ({ name, meant }: UnknownSetting): string =>
  meant === undefined ? name : `${name} (did you mean ${meant}?)`
