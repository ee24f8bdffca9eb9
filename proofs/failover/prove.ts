/**
 * `npm run prove -- failover`: rounds without the database, under load. Losses and duplicates decide. The seconds are held
 * against the machine's speed in the same run, and only printed.
 */
import { z } from 'zod'
import { LEASE_MS } from '../../gateway/bots/lease-store.ts'
import { secondsInWords, secondsOf } from '../kill/seconds.ts'
import { meanOf, readMachine } from '../machine.ts'
import { count, defineProof, type Finding, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import { type Failed, failoverRounds } from './rounds.ts'

const LIMITS = {
  api: { mostMs: 2_000 },
  bots: { mostMs: 30_000, waitMs: LEASE_MS },
} as const

export const failoverProof = defineProof({
  options: z.object({
    rounds: count(10, 'how many rounds without the database'),
    seed: count(1, 'when it goes, for how long, and what shoppers do'),
    keep: keepFlag(),
  }),
  run: ({ rounds, seed }) =>
    withServer(async (url) => {
      const before = await readMachine()
      const failed = await failoverRounds(url, { rounds, seed })
      const { speed } = meanOf([before, await readMachine()])
      return report(failed, seed, speed)
    }),
})

function report(failed: Failed, seed: number, speed: number): Finding {
  const { problems, rounds, refused, books } = failed
  const passed = problems.length === 0
  const seconds = {
    api: secondsOf([{ ms: failed.apiMs, speed }], LIMITS.api),
    bots: secondsOf([{ ms: failed.botsMs, speed }], LIMITS.bots),
  }
  for (const problem of problems) console.log(problem)
  console.log(secondsInWords('the API answers once the database is back', seconds.api))
  console.log(secondsInWords('the bots are at work once the database is back', seconds.bots))
  const kinds = Object.entries(rounds).map(([kind, times]) => `${times} ${kind}`)
  console.log(
    `failover: ${kinds.join(', ')}; ${books.deliveries} deliveries, ${books.reversals} reversals, ` +
      `${books.webhooks} webhooks, ${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`,
  )
  const content = {
    passed,
    seed,
    rounds,
    refused,
    ...books,
    creditedCents: books.credited,
    seconds,
    problems,
  }
  return { passed, result: { name: 'failover', content } }
}
