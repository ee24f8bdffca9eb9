/** The work of a bot while its lease is held and its session is open: jobs, and watching its offers. */
import { z } from 'zod'
import type { Queue } from '../db/queue.ts'
import { createLimiter } from '../kit/limiter.ts'
import type { Log } from '../kit/log.ts'
import { within } from '../kit/pause.ts'
import type { Time } from '../steam/budget.ts'
import { METHODS } from '../steam/methods.ts'
import { type BotContext, type BotHandlers, type BotJob, botQueue } from './bot.ts'
import { createFairQueue } from './fair-queue.ts'
import { createLanes } from './lanes.ts'

/**
 * Jobs taken from the queue at a time. A job that sends or cancels an offer keeps its place until that is done, for
 * JOB_MS at most. The number is large enough to leave places for other jobs.
 */
const JOBS_AT_A_TIME = 64
const REFRESHES_AT_A_TIME = 4
/** How many trades' rows to read at a time to choose their lanes. The limit keeps connections free for shoppers. */
const CHOICES_AT_A_TIME = 4
/**
 * While more inventories than this wait for their turn, an inventory job also keeps its place until the inventory has
 * been read, for JOB_MS at most. The bot then takes fewer new jobs. Further inventories would be read too late anyway:
 * the calls that wait for them give up after 20 s.
 */
const MANY_INVENTORIES = 40
/** A job waits at most this long for its work, because the queue considers a job lost after a minute. */
const JOB_MS = 45_000

const idSchema = z.string().regex(/^\d{1,19}$/)
const jobSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('inventory'),
    requestId: idSchema,
    storeId: idSchema.optional(),
    depositId: idSchema.optional(),
  }),
  z.object({ kind: z.literal('trade'), tradeId: idSchema }),
  z.object({ kind: z.literal('refresh'), tradeId: idSchema }),
  z.object({ kind: z.literal('history') }),
  z.object({ kind: z.literal('drift') }),
]) satisfies z.ZodType<BotJob>

type InventoryJob = Extract<BotJob, { kind: 'inventory' }>

type WorkDeps = { queue: Queue; handlers: BotHandlers; log: Log; watchMs: number }

const TIME: Time = {
  now: () => performance.now(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
}

/** The returned function stops the work and waits for running jobs. */
export async function startWork(deps: WorkDeps, bot: BotContext): Promise<() => Promise<void>> {
  const { queue } = deps
  const name = botQueue(bot.botId)
  await queue.ensure(name)
  const watch = startWatch(deps, bot)
  const jobs = createJobHandler(deps, bot, watch.wake)
  const work = async (data: unknown) => jobs.handle(jobSchema.parse(data))
  try {
    const stopJobs = await queue.work(name, work, { concurrency: JOBS_AT_A_TIME })
    return async () => {
      await Promise.all([watch.stop(), stopJobs()])
      await jobs.drain()
    }
  } catch (error) {
    await watch.stop()
    throw error
  }
}

function createJobHandler({ handlers, log }: WorkDeps, bot: BotContext, afterTradeWork: () => void) {
  const lanes = createLanes((tradeId) => handlers.trade(bot, tradeId).then(afterTradeWork))
  const choices = createLimiter(CHOICES_AT_A_TIME)
  const refreshes = createLimiter(REFRESHES_AT_A_TIME)
  const histories = createLimiter(1)
  const drifts = createLimiter(1)
  const inventories = createFairQueue({ budget: METHODS.partnerinventory.account, time: TIME })
  const background = new Set<Promise<unknown>>()

  // Most jobs end as soon as their work is queued here. Sweeps find due work that was not done.
  const runInBackground = (work: Promise<unknown>, about: object, message: string): Promise<unknown> => {
    const done = work
      .catch((error: unknown) => log.error({ err: error, botId: String(bot.botId), ...about }, message))
      .finally(() => background.delete(done))
    background.add(done)
    return done
  }
  const readInventory = async (job: InventoryJob): Promise<void> => {
    // A job from an older version has no store and no deposit, so it gets a turn of its own.
    const { requestId, storeId = `of ${requestId}`, depositId = `of ${requestId}` } = job
    const read = (spend: () => void) => handlers.inventory(bot, BigInt(requestId), spend)
    const message = 'inventory could not be read'
    const reading = inventories.add({ storeId, depositId }, (spend) =>
      runInBackground(read(spend), { request: requestId }, message).then(() => undefined),
    )
    if (inventories.waiting() > MANY_INVENTORIES) await within(reading, JOB_MS)
  }
  const advance = async (tradeId: bigint): Promise<void> => {
    const lane = await choices(() => handlers.laneOf(bot, tradeId))
    if (lane === undefined) return
    const turn = lanes.add(tradeId, lane)
    runInBackground(turn, { trade: String(tradeId), lane }, 'work on a trade failed')
    if (lane !== 'sends' && lane !== 'cancels') return
    // A shopper waits for these jobs, so a job fails if its work fails. The queue then soon repeats it, in this
    // process or in the next one that holds the bot.
    if ((await within(turn, JOB_MS)) === 'dropped') throw new Error('the work of the bot was stopped')
  }
  const handle = async (job: BotJob): Promise<void> => {
    switch (job.kind) {
      case 'inventory':
        return readInventory(job)
      case 'refresh': {
        const refresh = refreshes(() => handlers.refresh(bot, BigInt(job.tradeId)))
        return void runInBackground(refresh, { trade: job.tradeId }, 'offer could not be read again')
      }
      case 'history':
        return void runInBackground(
          histories(() => handlers.history(bot)),
          {},
          'bot history could not be read',
        )
      case 'drift':
        return void runInBackground(
          drifts(() => handlers.drift(bot)),
          {},
          'bot inventory could not be compared with the books',
        )
      case 'trade':
        return advance(BigInt(job.tradeId))
      default:
        return job satisfies never
    }
  }
  const drain = async () => {
    inventories.stop()
    await lanes.stop()
    await Promise.all(background)
  }
  return { handle, drain }
}

/** Watches the bot's open offers every `watchMs` while the bot has any, and again after work on a trade. */
function startWatch({ handlers, log, watchMs }: WorkDeps, bot: BotContext) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isWokenAgain = false
  let isStopped = false

  const look = async () => {
    // After an error, offers may be left to watch.
    let left = 1
    try {
      left = await handlers.watch(bot)
    } catch (error) {
      log.error({ err: error, botId: String(bot.botId) }, 'watch over offers failed')
    }
    running = undefined
    if (isStopped) return
    if (left > 0 || isWokenAgain) timer = setTimeout(start, watchMs)
    isWokenAgain = false
  }
  const start = () => {
    timer = undefined
    running = look()
  }
  start()
  return {
    wake() {
      if (isStopped) return
      if (running) isWokenAgain = true
      else timer ??= setTimeout(start, watchMs)
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
