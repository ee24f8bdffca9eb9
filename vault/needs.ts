/** Problems that need a person now. The vault reports them to the till, which tells the operator. */
import { DAY_MS, HOUR_MS } from './durations.ts'
import { keepAtMost, keepNewest } from './keep-newest.ts'

/**
 * How long each kind lasts after it was last noted. A kind that describes a state is noted as long as the state lasts.
 * One that describes an event stays longer, because nothing shows whether somebody has looked. docs/selling.md says
 * what to do about each.
 */
const LASTS_MS = {
  start_failed: HOUR_MS,
  rounds_failing: HOUR_MS,
  login_refused: HOUR_MS,
  token_ends: HOUR_MS,
  selling_stopped: HOUR_MS,
  seller_offline: HOUR_MS,
  listings_hidden: HOUR_MS,
  sales_unread: HOUR_MS,
  unread_deal: 7 * DAY_MS,
  due_refused: 7 * DAY_MS,
  no_room: DAY_MS,
  strange_listing: 7 * DAY_MS,
  repeated_number: 7 * DAY_MS,
  other_price: 7 * DAY_MS,
  too_much: 7 * DAY_MS,
  sale_changed: 7 * DAY_MS,
  sale_untold: 7 * DAY_MS,
  offer_stuck: 2 * DAY_MS,
  offer_in_escrow: 2 * HOUR_MS,
  trade_unclear: 7 * DAY_MS,
  notice_refused: DAY_MS,
  gift_failed: DAY_MS,
} as const

export type NeedKind = keyof typeof LASTS_MS

/** `about`: what it is about, such as a market and a deal. `since`, `seenAt`: when it was first and last noted. */
export type Need = { kind: NeedKind; about: string; text: string; since: Date; seenAt: Date }

export type Needs = {
  /** Notes that this needs a person, or still does. */
  note(kind: NeedKind, about: string, text: string): void
  end(kind: NeedKind, about: string): void
  list(): readonly Need[]
  /** Takes over what an earlier process of the vault reported. */
  adopt(earlier: readonly Need[]): void
}

/** Beyond this many, those noted longest ago are dropped. */
export const MOST_NEEDS = 100
const keepNeed = keepAtMost(MOST_NEEDS)
const MOST_ABOUT_CHARACTERS = 200
const MOST_TEXT_CHARACTERS = 300

/** Failures of an earlier process do not concern this one, which runs. */
const OF_ONE_PROCESS: readonly NeedKind[] = ['start_failed', 'rounds_failing']

export const isNeedKind = (kind: string): kind is NeedKind => Object.hasOwn(LASTS_MS, kind)

export function createNeeds(now: () => Date): Needs {
  /** In the order in which they were last noted. */
  const needs = new Map<string, Need>()
  /** The needs that ended in this process. `adopt` leaves them out, even if an earlier process reported them. */
  const ended = new Map<string, true>()
  const keyOf = (kind: NeedKind, about: string) => `${kind} ${about}`
  const put = (need: Need): void => keepNeed(needs, keyOf(need.kind, need.about), need)
  const isOver = ({ kind, seenAt }: Need): boolean => now().getTime() - seenAt.getTime() >= LASTS_MS[kind]
  return {
    note(kind, about, text) {
      const at = now()
      const subject = plain(about, MOST_ABOUT_CHARACTERS)
      const since = needs.get(keyOf(kind, subject))?.since ?? at
      put({ kind, about: subject, text: plain(text, MOST_TEXT_CHARACTERS), since, seenAt: at })
    },
    end(kind, about) {
      const key = keyOf(kind, plain(about, MOST_ABOUT_CHARACTERS))
      needs.delete(key)
      keepNewest(ended, key, true)
    },
    list() {
      for (const [key, need] of needs) if (isOver(need)) needs.delete(key)
      return [...needs.values()]
    },
    adopt(reported) {
      const own = [...needs.values()]
      const earlier = reported.filter(({ kind, about }) => !ended.has(keyOf(kind, about)))
      for (const need of earlier) if (!OF_ONE_PROCESS.includes(need.kind) && !isOver(need)) put(need)
      for (const need of own) {
        const before = earlier.find(({ kind, about }) => kind === need.kind && about === need.about)
        put({ ...need, since: before?.since ?? need.since })
      }
    },
  }
}

/** Replaces control characters: markets choose parts of these texts, and a terminal may show them. */
export const plain = (text: string, mostCharacters: number): string =>
  text.slice(0, mostCharacters).replace(/\p{C}/gu, '?')

export type NeedsStore = {
  read(): Promise<readonly Need[]>
  /** Replaces all that was reported before. */
  write(needs: readonly Need[]): Promise<void>
}

/** How often to report even if nothing has changed: the till may have been restored from a backup. */
const REPEAT_MS = 60_000

type ReportParts = {
  needs: Needs
  store: NeedsStore
  now(): Date
  say(line: string, about: Record<string, string | number>): void
}

/** Returns a function that reports to the till what needs a person. Never rejects: it reports again a minute later. */
export function createNeedsReport({ needs, store, now, say }: ReportParts): () => Promise<void> {
  let hasAdopted = false
  let isFailing = false
  let reported: string | undefined
  let triedAtMs = Number.NEGATIVE_INFINITY
  const report = async (): Promise<void> => {
    // Adopt before the first report, which replaces what the earlier process reported.
    if (!hasAdopted) needs.adopt(await store.read())
    hasAdopted = true
    const current = needs.list()
    const text = textOf(current)
    await store.write(current)
    reported = text
    isFailing = false
  }
  return async () => {
    const sinceMs = Math.abs(now().getTime() - triedAtMs)
    const isNews = reported !== undefined && reported !== textOf(needs.list())
    if (sinceMs < REPEAT_MS && (isFailing || !isNews)) return
    triedAtMs = now().getTime()
    try {
      await report()
    } catch (error) {
      if (!isFailing)
        say('what needs a person could not be reported to the till', { problem: problemOf(error) })
      isFailing = true
    }
  }
}

const textOf = (needs: readonly Need[]): string =>
  JSON.stringify(needs.map(({ kind, about, text }) => [kind, about, text]).sort())

/** Reports that the vault did not start. */
export async function reportFailedStart(
  parts: Pick<ReportParts, 'store' | 'now' | 'say'>,
  error: unknown,
): Promise<void> {
  const needs = createNeeds(parts.now)
  needs.note('start_failed', '', `the vault did not start: ${problemOf(error)}`)
  await createNeedsReport({ ...parts, needs })()
}

export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
