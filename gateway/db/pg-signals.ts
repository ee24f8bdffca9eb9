import { sql } from 'kysely'
import pg from 'pg'
import type { Log } from '../kit/log.ts'
import type { Signals } from './signals.ts'

export type SignalsOptions = { url: string; log: Log }

const CHANNEL = 'till'
const RECHECK_MS = 1_000
const RECONNECT_MS = 500

/** Starts listening with one connection of its own; while it is broken, waiters look once a second. */
export async function createSignals({ url, log }: SignalsOptions): Promise<Signals> {
  const waiters = new Map<string, Set<() => void>>()
  const listener = startListener({ url, log, onTopic: (topic) => wake(waiters.get(topic)) })
  await listener.connected

  return {
    notify: async (tx, topic) => {
      await sql`select pg_notify(${CHANNEL}, ${topic})`.execute(tx)
    },
    until: async (topic, check, { timeoutMs, signal }) => {
      const end = performance.now() + timeoutMs
      const waiter = createWaiter(signal)
      const others = waiters.get(topic) ?? new Set()
      waiters.set(topic, others.add(waiter.wake))
      try {
        for (;;) {
          const value = await check()
          const leftMs = end - performance.now()
          if (value !== undefined || leftMs <= 0 || signal?.aborted) return value
          await waiter.wait(Math.min(leftMs, RECHECK_MS))
        }
      } finally {
        waiter.close()
        others.delete(waiter.wake)
        if (others.size === 0 && waiters.get(topic) === others) waiters.delete(topic)
      }
    },
    close: async () => {
      await listener.close()
      for (const set of waiters.values()) wake(set)
    },
  }
}

function wake(waiters: Set<() => void> | undefined): void {
  for (const waiter of waiters ?? []) waiter()
}

/** Remembers a wake-up that comes between two waits, so that none is lost while `check` runs. */
function createWaiter(signal: AbortSignal | undefined) {
  let pending = false
  let resume = () => {}
  const wakeUp = () => {
    pending = true
    resume()
  }
  signal?.addEventListener('abort', wakeUp)
  return {
    wake: wakeUp,
    close: () => signal?.removeEventListener('abort', wakeUp),
    wait: async (ms: number) => {
      if (!pending) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      pending = false
    },
  }
}

type Listener = { connected: Promise<void>; close(): Promise<void> }

function startListener(options: SignalsOptions & { onTopic(topic: string): void }): Listener {
  const { url, log, onTopic } = options
  let closed = false
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined

  const connect = async () => {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'tradetill-signals',
      keepAlive: true,
    })
    client = fresh
    const lost = () => {
      if (closed || client !== fresh) return
      client = undefined
      log.warn('signals: connection lost, connecting again')
      again()
    }
    fresh.on('error', lost).on('end', lost)
    fresh.on('notification', ({ payload }) => onTopic(payload ?? ''))
    await fresh.connect()
    await fresh.query(`listen ${CHANNEL}`)
  }
  const again = () => {
    timer = setTimeout(() => connect().catch(again), RECONNECT_MS)
  }
  return {
    connected: connect(),
    close: async () => {
      closed = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
