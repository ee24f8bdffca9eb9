import { barBot } from '../bots/bar-store.ts'
import type { BotHandlers } from '../bots/bot.ts'
import type { Db } from '../db/client.ts'
import type { Signals } from '../db/signals.ts'
import { inRounds } from '../db/sweep-store.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { askSteam, storedAnswerSchema, toStored } from './answer.ts'
import { FRESH_MS, inventoryTopic, RELOAD_MS, WAIT_MS } from './look.ts'
import { deleteSuperseded, forgetQuotes } from './quote-store.ts'
import { answerWithItems, completeRequest, dropItems, forgetRequests, spanOf, takeRequest } from './store.ts'

type JobDeps = { db: Db; signals: Signals; clock: Clock; log: Log; box: SecretBox }

/** Answers inventory requests. Takes each once, and leaves the answer in its row. */
export function inventoryHandler({ db, signals, clock, log, box }: JobDeps): BotHandlers['inventory'] {
  return async (bot, requestId, spend) => {
    // Nobody still waits for a request older than this, so Steam is not asked.
    const since = new Date(clock.now().getTime() - WAIT_MS)
    const request = await takeRequest({ db, box }, { id: requestId, botId: bot.botId, since })
    if (request === undefined) return
    const { steamId, token, game, language } = request
    const findRecent = async () => {
      const ms = request.isReload ? RELOAD_MS : FRESH_MS
      const row = await answerWithItems(db, request, spanOf(clock.now(), ms))
      if (row === undefined || row.done_at === null) return undefined
      return { answer: storedAnswerSchema.parse(row.answer), at: row.done_at }
    }
    const query = { partner: { steamId, token }, game, language, findRecent, spend }
    const { answer, barReason, readAt } = await askSteam(bot.session, query)
    if (answer.kind === 'unavailable') {
      const { reason, detail } = answer
      log.warn({ botId: String(bot.botId), game, reason, detail }, 'no inventory could be read')
    }
    if (barReason === 'own_hold')
      log.error(
        { botId: String(bot.botId) },
        'bot was barred, because Steam would hold the bot’s side of a trade',
      )
    await inTransaction(db, async (tx) => {
      if (barReason !== null)
        await barBot(tx, { botId: bot.botId, reason: barReason, game, now: clock.now() })
      await completeRequest(tx, { id: requestId, answer: toStored(answer), at: readAt ?? clock.now() })
      await signals.notify(tx, inventoryTopic(requestId))
    })
  }
}

const QUOTES_AT_A_TIME = 100

/** Deletes recently expired, unused quotes that a later one has replaced. Call it every minute. */
export const sweepQuotes = ({ db, clock }: Pick<JobDeps, 'db' | 'clock'>): Promise<void> =>
  inRounds(QUOTES_AT_A_TIME, () => deleteSuperseded(db, clock.now(), QUOTES_AT_A_TIME))

/** How long requests, and expired quotes that nothing uses, are kept unless the settings name another time. */
const KEEP_MS = 24 * 3_600_000

/** How long the items of a read are kept: longer than any call uses them. */
const KEEP_ITEMS_MS = 10 * 60_000
const ANSWERS_AT_A_TIME = 100

/** Deletes the items of old reads, then older requests and unused quotes. Call it every ten minutes. */
export async function sweepInventories({
  db,
  clock,
  keep,
}: Pick<JobDeps, 'db' | 'clock'> & { keep?: { inventoriesMs: number } }): Promise<void> {
  const ago = (ms: number) => new Date(clock.now().getTime() - ms)
  await inRounds(ANSWERS_AT_A_TIME, () => dropItems(db, ago(KEEP_ITEMS_MS), ANSWERS_AT_A_TIME))
  const before = ago(keep?.inventoriesMs ?? KEEP_MS)
  await forgetRequests(db, before)
  await inRounds(QUOTES_AT_A_TIME, () => forgetQuotes(db, before, QUOTES_AT_A_TIME))
}
