/** Logins of bots that a phone approves: the page shows the picture, and asks what became of it. In memory: a restart ends all. */
import { randomUUID } from 'node:crypto'
import type { Log } from '../kit/log.ts'
import type { AddedBot } from '../operations/enrolment.ts'
import { type Answer, type Refused, refused } from '../operations/operation.ts'

/** Of this process, those that are over among them. A page forgets its own. */
const MOST_LOGINS = 60
/** Of one operator, those that wait for a phone. */
const MOST_WAITING = 3
/** Longer than a phone has, and a page asks. */
const KEPT_MS = 10 * 60_000

type Login = {
  owner: string
  begunMs: number
  ending: AbortController
  answer: Answer<AddedBot> | undefined
}

/** `show` is given the address that the Steam app must open. */
export type LogIn = (way: { show(address: string): void; signal: AbortSignal }) => Promise<Answer<AddedBot>>

export type Logins = {
  begin(owner: string, logIn: LogIn): Promise<{ loginId: string; address: string } | Refused>
  /** Undefined if the operator has no such login. */
  look(owner: string, loginId: string): { answer: Answer<AddedBot> | undefined } | undefined
  end(owner: string, loginId: string): void
  endAll(): void
}

export function createLogins({ log, nowMs }: { log: Log; nowMs(): number }): Logins {
  const logins = new Map<string, Login>()
  const forget = (loginId: string): void => {
    logins.get(loginId)?.ending.abort()
    logins.delete(loginId)
  }
  const makeRoom = (owner: string): boolean => {
    for (const [loginId, { begunMs }] of [...logins]) if (nowMs() - begunMs > KEPT_MS) forget(loginId)
    const waiting = [...logins.values()].filter(
      (login) => login.owner === owner && login.answer === undefined,
    )
    return logins.size < MOST_LOGINS && waiting.length < MOST_WAITING
  }
  return {
    async begin(owner, logIn) {
      if (!makeRoom(owner))
        return refused('conflict', 'Other logins wait for their phones: end one of them, or wait.')
      const loginId = randomUUID()
      const login: Login = { owner, begunMs: nowMs(), ending: new AbortController(), answer: undefined }
      logins.set(loginId, login)
      const shown = Promise.withResolvers<string>()
      const ended = logIn({ show: shown.resolve, signal: login.ending.signal })
        .catch((error: unknown) => {
          log.error({ err: error }, 'login of a bot failed')
          return refused('failed', 'Something failed on our side. The log of the gateway says what.')
        })
        .then((answer) => {
          login.answer = answer
          return answer
        })
      const first = await Promise.race([shown.promise, ended])
      if (typeof first === 'string') return { loginId, address: first }
      forget(loginId)
      return first.kind === 'refused'
        ? refused(first.refusal, first.message)
        : refused('failed', 'Steam showed no picture.')
    },
    look(owner, loginId) {
      const login = logins.get(loginId)
      return login?.owner === owner ? { answer: login.answer } : undefined
    },
    end(owner, loginId) {
      if (logins.get(loginId)?.owner === owner) forget(loginId)
    },
    endAll() {
      for (const loginId of [...logins.keys()]) forget(loginId)
    },
  }
}
