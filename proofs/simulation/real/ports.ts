import type { NewJob, Queue } from '../../../gateway/db/queue.ts'
import type { Signals } from '../../../gateway/db/signals.ts'
import { CODE_ALPHABET, CODE_LENGTH, type Ids } from '../../../gateway/kit/ids.ts'
import { createLog, type Log } from '../../../gateway/kit/log.ts'
import type { Random } from '../../random.ts'
import type { Engine } from '../engine.ts'
import type { Restartable } from '../process.ts'
import { must } from '../violation.ts'
import { onCommit } from './connections.ts'

/** A queue that passes on each job once its transaction has committed. */
export function queueOf(accept: (job: NewJob) => void): Queue {
  return {
    ensure: async () => {},
    send: (tx, job) => onCommit(tx, () => accept(job)),
    work: async () => async () => {},
    stop: async () => {},
  }
}

export type Waiters = Map<string, Set<() => void>>

type Waiting = {
  engine: Engine
  waiters: Waiters
  notify(topic: string): void
  /** The process as it is now. */
  process(): Restartable
}

/** `waiters`: those of one process. A notification reaches every process. A wait ends with the run that began it. */
export function signalsOf({ engine, waiters, notify, process }: Waiting): Signals {
  return {
    notify: (tx, topic) => onCommit(tx, () => notify(topic)),
    async until(topic, check, { timeoutMs }) {
      const endMs = engine.now() + timeoutMs
      const firstRun = process().run
      for (;;) {
        const value = await check()
        if (value !== undefined || engine.now() >= endMs) return value
        await new Promise<void>((resolve) => {
          const topics = waiters.get(topic) ?? new Set()
          waiters.set(topic, topics.add(resolve))
          engine.at(endMs, () => {
            const { isAlive, run: current } = process()
            // A wait that continued after a crash would hold a connection forever.
            if (isAlive && current === firstRun) resolve()
          })
        })
      }
    },
    close: async () => {},
  }
}

export function idsOf(random: Random): Ids {
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () => random.int(256).toString(16).padStart(2, '0')).join('')
  const code = (): string => CODE_ALPHABET[random.int(CODE_ALPHABET.length)] ?? ''
  return {
    uuid: () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-a${hex(2).slice(1)}-${hex(6)}`,
    hex,
    secretCode: () => Array.from({ length: CODE_LENGTH }, code).join(''),
  }
}

/** Matches errors that the simulation causes. */
const SIMULATED_ERROR = /after a commit|could not serialize|simulated/

/** Matches the log line about an offer that turned up after its trade was abandoned. */
const TURNED_UP = /"state":"abandoned".*that its trade does not wait for/

/**
 * Matches the log line about a trade whose offer or Steam trade an operator had assigned to another trade. The
 * simulation's operator never does that.
 */
const TAKEN_TWICE = /was given to another trade by hand/

/** A log that searches every line for secrets, and for errors that the simulation did not cause. */
export function watchedLog(secrets: () => readonly string[], onTurnUp: () => void): Log {
  return createLog({
    level: 'info',
    write: (line) => {
      for (const secret of secrets()) {
        must(!line.includes(secret), 'I14', () => `a secret is in the log: ${line.replaceAll(secret, '…')}`)
      }
      if (TURNED_UP.test(line)) onTurnUp()
      must(!TAKEN_TWICE.test(line), 'I13', () => line)
      must(!line.includes('"err":') || SIMULATED_ERROR.test(line), 'defect', () => line)
    },
  })
}
