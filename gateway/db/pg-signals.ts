/** Signals by PostgreSQL's LISTEN and NOTIFY. */
import { sql } from 'kysely'
import type { Log } from '../kit/log.ts'
import { pause } from '../kit/pause.ts'
import { type Connection, type ConnectionGroup, createConnectionGroup, KEEP_ALIVE } from './connections.ts'
import type { Signals } from './signals.ts'

export type SignalsOptions = {
  url: string
  log: Log
  /** The process's connections, as a group that can be cut together. */
  connections?: ConnectionGroup
}

const CHANNEL = 'till'
/** How often a waiter checks without a notification, so a broken connection only delays it. */
const RECHECK_MS = 1_000
const RECONNECT_MS = 500
const CONNECT_MS = 5_000
/** The connection is silent between notifications, so it is tested at this interval, and with this deadline. */
const ASK_MS = 5_000

/** Resolves once it listens, on a connection of its own. */
export async function createSignals({
  url,
  log,
  connections = createConnectionGroup(),
}: SignalsOptions): Promise<Signals> {
  const waiters = new Map<string, Set<() => void>>()
  const onTopic = (topic: string) => wake(waiters.get(topic))
  const listener = startListener({ url, log, connections, onTopic })
  await listener.connected

  return {
    notify: async (tx, topic) => {
      await sql`select pg_notify(${CHANNEL}, ${topic})`.execute(tx)
    },
    until: async (topic, check, { timeoutMs, signal }) => {
      const end = performance.now() + timeoutMs
      const waiter = createWaiter(signal)
      const ofTopic = waiters.get(topic) ?? new Set()
      waiters.set(topic, ofTopic.add(waiter.wake))
      try {
        for (;;) {
          const value = await check()
          const leftMs = end - performance.now()
          if (value !== undefined || leftMs <= 0 || signal?.aborted) return value
          await waiter.wait(Math.min(leftMs, RECHECK_MS))
        }
      } finally {
        waiter.close()
        ofTopic.delete(waiter.wake)
        if (ofTopic.size === 0 && waiters.get(topic) === ofTopic) waiters.delete(topic)
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

/** Remembers a wake-up that comes between two waits, so none is lost while `check` runs. */
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

type Listener = { connected: Promise<unknown>; close(): Promise<void> }

function startListener(options: Required<SignalsOptions> & { onTopic(topic: string): void }): Listener {
  const { url, log, connections, onTopic } = options
  const Client = connections.clientWith(ASK_MS)
  const closing = new AbortController()
  let current: Connection | undefined

  /** Resolves once it listens. `ended` resolves when it no longer does. */
  const listen = async (): Promise<{ ended: Promise<void> }> => {
    const connection = new Client({
      connectionString: url,
      application_name: 'tradetill-signals',
      connectionTimeoutMillis: CONNECT_MS,
      ...KEEP_ALIVE,
    })
    current = connection
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    connection.on('error', () => resolve()).on('end', () => resolve())
    connection.on('notification', ({ payload }) => onTopic(payload ?? ''))
    await connection.connect()
    const ask = () => connection.query(`listen ${CHANNEL}`)
    // A replica refuses this, and keeps the connection open.
    await ask().catch((error: unknown) => {
      connection.cut()
      throw error
    })
    const asking = setInterval(() => void ask().catch(() => resolve()), ASK_MS)
    ended.then(() => {
      clearInterval(asking)
      connection.cut()
    })
    return { ended }
  }
  const keepListening = async ({ ended }: { ended: Promise<void> }): Promise<void> => {
    await ended
    while (!closing.signal.aborted) {
      log.warn('signals lost their connection and will reconnect')
      const again = await listenAgain()
      await again?.ended
    }
  }
  const listenAgain = async () => {
    while (await pause(RECONNECT_MS, closing.signal)) {
      const again = await listen().catch(() => undefined)
      if (again !== undefined) return again
    }
    return undefined
  }
  const connected = listen()
  // A failure is for the caller, who awaits `connected`.
  connected.then(keepListening, () => {})
  return {
    connected,
    close: async () => {
      closing.abort()
      // A broken connection has ended already.
      await current?.end().catch(() => {})
    },
  }
}
