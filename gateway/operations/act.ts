/** Acts change something: each is recorded with who, when, what and why, in the transaction of its change. */
import type { Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { scrub } from '../kit/scrub.ts'
import { toJson } from './json.ts'
import { type ActDeps, type Answer, type Refused, refused } from './operation.ts'
import { insertAct } from './store.ts'

export type What<T> = {
  /** As the command is called. */
  name: string
  /** Money moves or something is removed: the operator must say why. */
  needsReason?: boolean
  /** What the record says of it: never a secret. */
  recorded(data: T): Record<string, unknown>
}

const MOST_NAME = 80
const MOST_REASON = 500
const CONTROL = /\p{Cc}/u

/** Does `work` and records it, both or neither. A refusal undoes what `work` wrote and leaves no record. */
export async function act<T>(
  deps: ActDeps,
  what: What<T>,
  work: (tx: Tx) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const mistake = mistakeOf(deps, what)
  if (mistake !== undefined) return refused('usage', mistake)
  let undone: Refused<T> | undefined
  try {
    return await inTransaction(deps.db, async (tx) => {
      const answer = await work(tx)
      if (answer.kind === 'refused') {
        undone = answer
        throw new RolledBack()
      }
      if (answer.kind === 'done') await record(tx, deps, { ...what, data: answer.data })
      return answer
    })
  } catch (error) {
    if (error instanceof RolledBack && undone !== undefined) return undone
    throw error
  }
}

/** Leaves the transaction, so nothing of a refused act stays. */
class RolledBack extends Error {}

function mistakeOf({ operator, reason }: ActDeps, what: Pick<What<never>, 'name' | 'needsReason'>) {
  if (operator.length < 1 || operator.length > MOST_NAME || CONTROL.test(operator)) {
    return `The operator must have a name of 1 to ${MOST_NAME} characters.`
  }
  if (reason === null) return what.needsReason === true ? `${what.name} needs a reason.` : undefined
  if (reason.trim() === '' || reason.length > MOST_REASON || CONTROL.test(reason)) {
    return `The reason must have 1 to ${MOST_REASON} characters on one line.`
  }
  return undefined
}

function record<T>(tx: Tx, deps: ActDeps, { name, recorded, data }: What<T> & { data: T }): Promise<void> {
  return insertAct(tx, {
    at: deps.clock.now(),
    operator: scrub(deps.operator),
    act: name,
    arguments: scrub(toJson(recorded(data))),
    reason: deps.reason === null ? null : scrub(deps.reason),
  })
}
