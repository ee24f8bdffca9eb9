/** The work for a bot while its lease is held and its session is open: jobs, and the watch over its offers. */
import { z } from 'zod'
import type { Queue } from '../db/queue.ts'
import type { Log } from '../kit/log.ts'
import { type BotContext, type BotHandlers, type BotJob, botQueue } from './bot.ts'
import { createLimiter } from './limiter.ts'

/** Jobs taken from the queue at a time. They wait in the limiters below. */
const JOBS_AT_A_TIME = 12
const READS_AT_A_TIME = 4
const INVENTORIES_AT_A_TIME = 4
/** Inventories that may wait for their turn. Their callers give up after 20 s anyway. */
const MOST_INVENTORIES = 40

const ref = z.string().regex(/^\d{1,19}$/)
const jobSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('inventory'), requestId: ref }),
  z.object({ kind: z.literal('trade'), tradeId: ref }),
  z.object({ kind: z.literal('refresh'), tradeId: ref }),
  z.object({ kind: z.literal('history') }),
]) satisfies z.ZodType<BotJob>

type WorkDeps = { queue: Queue; handlers: BotHandlers; log: Log; watchMs: number }

/** Starts the bot's work. The returned function stops it and waits for jobs under way. */
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
      await jobs.settled()
    }
  } catch (error) {
    await watch.stop()
    throw error
  }
}

function createJobHandler({ handlers, log }: WorkDeps, bot: BotContext, tradeMoved: () => void) {
  const writes = createLimiter(1)
  const reads = createLimiter(READS_AT_A_TIME)
  const inventories = createLimiter(INVENTORIES_AT_A_TIME)
  const waiting = new Set<Promise<void>>()

  // A batch of jobs ends with its slowest, and slow inventories must not hold up trades. Not waiting for them loses
  // nothing, because a request is taken only once and its caller waits for its row.
  const readAside = (requestId: bigint): Promise<void> | undefined => {
    const work = inventories(() => handlers.inventory(bot, requestId))
      .catch((error: unknown) =>
        log.error({ err: error, botId: String(bot.botId) }, 'an inventory could not be read'),
      )
      .finally(() => waiting.delete(work))
    waiting.add(work)
    return waiting.size > MOST_INVENTORIES ? work : undefined
  }
  const handle = async (job: BotJob): Promise<void> => {
    switch (job.kind) {
      case 'inventory':
        return readAside(BigInt(job.requestId))
      case 'refresh':
        return reads(() => handlers.refresh(bot, BigInt(job.tradeId)))
      case 'history':
        return reads(() => handlers.history(bot))
      case 'trade':
        await writes(() => handlers.trade(bot, BigInt(job.tradeId)))
        return tradeMoved()
      default:
        return job satisfies never
    }
  }
  const settled = async () => void (await Promise.all(waiting))
  return { handle, settled }
}

/** Watches the bot's live offers every `watchMs` while there are any, and again once a trade moved. */
function startWatch({ handlers, log, watchMs }: WorkDeps, bot: BotContext) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = false

  const look = async () => {
    let left = 1
    try {
      left = await handlers.watch(bot)
    } catch (error) {
      log.error({ err: error, botId: String(bot.botId) }, 'the watch over offers failed')
    }
    running = undefined
    if (stopped) return
    if (left > 0 || again) timer = setTimeout(start, watchMs)
    again = false
  }
  const start = () => {
    timer = undefined
    running = look()
  }
  start()
  return {
    wake() {
      if (stopped) return
      if (running) again = true
      else timer ??= setTimeout(start, watchMs)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
