/**
 * Logins of bots by QR code. The page shows the code and polls for the result. Logins are kept in memory, so a restart
 * ends them all.
 */
import { randomUUID } from 'node:crypto'
import type { Log } from '../kit/log.ts'
import type { AddedBot } from '../operations/enrolment.ts'
import { type Answer, type Refused, refused } from '../operations/operation.ts'

/** The most logins of this process, including finished ones that no page has ended yet. */
const MOST_LOGINS = 60
/** The most logins of one operator that wait for a phone. */
const MOST_WAITING = 3
/** How long to keep a login: longer than the time in which a phone can approve it, and longer than a page polls. */
const KEPT_MS = 10 * 60_000

type Login = {
  owner: string
  begunMs: number
  ending: AbortController
  /** The URL of the current QR code; undefined before Steam has given one. */
  address: string | undefined
  answer: Answer<AddedBot> | undefined
}

/** `show`: receives the URL that the Steam app must open, and each one that replaces it. */
export type LogIn = (way: { show(address: string): void; signal: AbortSignal }) => Promise<Answer<AddedBot>>

export type Logins = {
  begin(owner: string, logIn: LogIn): Promise<{ loginId: string; address: string } | Refused>
  /** Returns undefined if the operator has no such login. */
  look(owner: string, loginId: string): Pick<Login, 'address' | 'answer'> | undefined
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
        return refused('conflict', 'Too many logins are open: end one of yours, or wait up to ten minutes.')
      const loginId = randomUUID()
      const ending = new AbortController()
      const login: Login = { owner, begunMs: nowMs(), ending, address: undefined, answer: undefined }
      logins.set(loginId, login)
      const shownAddress = Promise.withResolvers<string>()
      const show = (address: string) => {
        login.address = address
        shownAddress.resolve(address)
      }
      const loginAnswer = logIn({ show, signal: ending.signal })
        .catch((error: unknown) => {
          log.error({ err: error }, 'bot login failed')
          return refused('failed', 'Something failed on our side. See the log of the gateway.')
        })
        .then((answer) => {
          login.answer = answer
          return answer
        })
      const addressOrAnswer = await Promise.race([shownAddress.promise, loginAnswer])
      if (typeof addressOrAnswer === 'string') return { loginId, address: addressOrAnswer }
      forget(loginId)
      return addressOrAnswer.kind === 'refused'
        ? refused(addressOrAnswer.refusal, addressOrAnswer.message)
        : refused('failed', 'Steam sent no QR code.')
    },
    look(owner, loginId) {
      const login = logins.get(loginId)
      return login?.owner === owner ? login : undefined
    },
    end(owner, loginId) {
      if (logins.get(loginId)?.owner === owner) forget(loginId)
    },
    endAll() {
      for (const loginId of [...logins.keys()]) forget(loginId)
    },
  }
}
