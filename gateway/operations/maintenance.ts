/** Maintenance: no new trade begins, the countdown of deposits is paused, and shoppers see why and until when. */
import { readDuration } from '../kit/duration.ts'
import type { Notice } from '../outages/outage.ts'
import { beginMaintenance, endMaintenance } from '../outages/service.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, refused, unchanged } from './operation.ts'

export type MaintenanceView = { on: boolean } & Notice

/**
 * `lasts`: a duration, such as `45m`. At most one of `lasts` and `until` is given. Without either, maintenance lasts
 * until it is turned off.
 */
export type Announcement = {
  text?: { en?: string | undefined; ru?: string | undefined } | undefined
  lasts?: string | undefined
  until?: Date | undefined
}

const MOST_TEXT_CHARACTERS = 300
const CONTROL = /\p{Cc}/u
const LONGEST_MS = 30 * 86_400_000

/** Turns maintenance on, so no new trade begins and no deposit expires. If it is on already, replaces the notice. */
export function switchMaintenanceOn(
  deps: ActDeps,
  announcement: Announcement,
): Promise<Answer<MaintenanceView>> {
  const argumentsOf = ({ text, until }: MaintenanceView) => ({
    ...(text !== null && { text }),
    ...(until !== null && { until }),
  })
  return act(deps, { name: 'maintenance on', argumentsOf }, async (tx) => {
    const notice = noticeOf(announcement, deps.clock.now())
    if (typeof notice === 'string') return refused('usage', notice)
    const view = { on: true, ...notice }
    const change = await beginMaintenance({ db: tx, clock: deps.clock }, notice)
    if (change === 'unchanged') return unchanged(view, 'Maintenance is already on.')
    const end = notice.until === null ? '' : ` It ends at ${notice.until.toISOString()}.`
    return done(view, `${change === 'begun' ? ON_TEXT : CHANGED_TEXT}${end}`)
  })
}

export function switchMaintenanceOff(deps: ActDeps): Promise<Answer<MaintenanceView>> {
  const view = { on: false, text: null, until: null }
  return act(deps, { name: 'maintenance off', argumentsOf: () => ({}) }, async (tx) =>
    (await endMaintenance({ db: tx, clock: deps.clock }))
      ? done(view, OFF_TEXT)
      : unchanged(view, 'Maintenance is already off.'),
  )
}

/** Returns the notice, or a sentence that says what is wrong. */
function noticeOf({ text = {}, lasts, until }: Announcement, now: Date): Notice | string {
  const { en, ru } = text
  if ((en === undefined) !== (ru === undefined))
    return 'Give the text in both English and Russian, or in neither.'
  for (const each of [en, ru]) {
    if (
      each !== undefined &&
      (each.trim() === '' || each.length > MOST_TEXT_CHARACTERS || CONTROL.test(each))
    ) {
      return `The text must have 1 to ${MOST_TEXT_CHARACTERS} characters on one line.`
    }
  }
  const wording = en === undefined || ru === undefined ? null : { en, ru }
  if (lasts === undefined && until === undefined) return { text: wording, until: null }
  if (lasts !== undefined && until !== undefined) return 'Give a duration or an end, not both.'
  const seconds = lasts === undefined ? undefined : readDuration(lasts)
  if (lasts !== undefined && seconds === undefined) {
    return 'Give the duration as a whole number and s, m, h or d, such as 45m or 2h.'
  }
  const end = until ?? new Date(now.getTime() + (seconds ?? 0) * 1_000)
  const isSoon = end > now && end.getTime() - now.getTime() <= LONGEST_MS
  return isSoon ? { text: wording, until: end } : 'The end must be within the next 30 days.'
}

const ON_TEXT = 'Maintenance is on: no new trade begins and no deposit expires. Trades under way continue.'
const CHANGED_TEXT = 'Maintenance continues, and shoppers see the new notice.'
const OFF_TEXT = 'Maintenance is off: new trades begin again, and deposits get the lost time back.'
