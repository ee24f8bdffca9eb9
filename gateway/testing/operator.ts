/** An operator of a till in sandbox mode. */
import { readConfig } from '../config.ts'
import type { ActDeps } from '../operations/operation.ts'
import { TEST_MASTER_KEY, type Till } from './till.ts'

export function operatorOf({ db, clock }: Till, reason = 'case 7'): ActDeps {
  const answer = readConfig({})
  if (answer.kind === 'refused') throw new Error(answer.problems.join())
  const config = { ...answer.config, masterKey: TEST_MASTER_KEY }
  return { config, db, clock, operator: 'Ada', reason }
}
