/** Operators of a console on the attacked till. */
import type { Authenticator } from '../../../gateway/testing/authenticator.ts'
import {
  sessionOf,
  showPasskey,
  signIn,
  startConsole,
  type TestConsole,
} from '../../../gateway/testing/console.ts'
import type { Target } from '../target.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** Lets an hour pass for the rate limits alone, so none of them refuses the next call. */
export const refillLimits = (till: TestConsole): void => till.advanceLimits(HOUR_MS)

export type Person = { device: Authenticator; headers: Record<string, string> }

export type Staff = {
  till: TestConsole
  /** Three operators with every right. Mallory attacks the others. */
  ada: Person
  grace: Person
  mallory: Person
  support: Person
  viewer: Person
  /** Adds another operator with every right, who has done nothing yet. */
  hire(name: string): Promise<Person>
  /** Signs the person in again, and returns the headers of the new session. */
  newSession(person: Person): Promise<Record<string, string>>
}

const staffByTarget = new WeakMap<Target, Promise<Staff>>()

/** Starts a target's console and adds its operators. The honest calls and the cases of a family share them. */
export function staffOf(target: Target): Promise<Staff> {
  const staff = staffByTarget.get(target) ?? startStaff(target)
  staffByTarget.set(target, staff)
  return staff
}

async function startStaff({ till: { deps } }: Target): Promise<Staff> {
  const till = await startConsole({ db: deps.db })
  const person = async (name: string, role: 'viewer' | 'support' | 'operator'): Promise<Person> => {
    refillLimits(till)
    return signIn(till, name, role)
  }
  return {
    till,
    ada: await person('Ada', 'operator'),
    grace: await person('Grace', 'operator'),
    mallory: await person('Mallory', 'operator'),
    support: await person('Sam', 'support'),
    viewer: await person('Vic', 'viewer'),
    hire: (name) => person(name, 'operator'),
    async newSession({ device }) {
      refillLimits(till)
      return sessionOf(await showPasskey(till, { device }))
    },
  }
}
