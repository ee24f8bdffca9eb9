/** `npm run prove -- restore`: backups under load, a loss, a restore, and the next epoch. */
import { z } from 'zod'
import { count, defineProof, type Finding, keepFlag } from '../proof.ts'
import { withFolder } from '../server.ts'
import { type RoundFacts, restoreRound } from './rounds.ts'

export const restoreProof = defineProof({
  options: z.object({
    rounds: count(
      2,
      'how often the database is lost and restored; every second time PostgreSQL has no sign of the restore',
    ),
    keep: keepFlag(),
  }),
  async run({ rounds }): Promise<Finding> {
    const facts: RoundFacts[] = []
    for (let round = 0; round < rounds; round += 1) {
      const replacement = round % 2 === 0 ? 'timeline' : 'behind'
      const fact = await withFolder((folder) => restoreRound(folder, replacement))
      facts.push(fact)
      const verdict = fact.problems.length === 0 ? 'nothing twice' : fact.problems.join('; ')
      console.log(
        `${fact.restored}: ${fact.kept} deliveries kept, ${fact.lost} lost with ${fact.eventsLost} events, ${fact.later} in the next epoch; ${verdict}`,
      )
    }
    const problems = facts.flatMap((fact) => fact.problems)
    if (facts.some(({ eventsLost }) => eventsLost <= 0))
      problems.push('a round lost nothing, so it proves nothing')
    const passed = problems.length === 0
    console.log(`restore: ${rounds} rounds, ${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`)
    return { passed, result: { name: 'restore', content: { passed, rounds, facts, problems } } }
  },
})
