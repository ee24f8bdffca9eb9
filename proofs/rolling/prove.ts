/** `npm run prove -- rolling`: two gateways behind a balancer, then three, replaced one after the other under load. */
import { z } from 'zod'
import { count, defineProof, type Finding, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import { type Rolled, rollingRound } from './rounds.ts'
import { sourcesOf } from './sources.ts'

const SIZES = [2, 3]

export const rollingProof = defineProof({
  options: z.object({
    seed: count(1, 'decides what shoppers do'),
    from: z
      .string()
      .regex(/^[0-9a-f]{7,40}$/, 'must be the hash of a commit')
      .optional()
      .describe('the hash of the commit of the first gateways; this tree by default'),
    keep: keepFlag(),
  }),
  run: ({ seed, from }) =>
    sourcesOf(from, (source) =>
      withServer(async (url) => {
        const rolled: Rolled[] = []
        for (const gateways of SIZES) {
          const result = await rollingRound(url, { gateways, seed: seed + gateways, from: source })
          const trouble =
            result.problems.length === 0 ? 'nothing lost' : result.problems.slice(0, 5).join('; ')
          console.log(
            `${gateways} gateways: ${result.calls} calls, ${result.deliveries} deliveries, ${result.webhooks} webhooks, a bot without a lease for ${result.unheldMs} ms at most; ${trouble}`,
          )
          rolled.push(result)
        }
        return report(rolled, from)
      }),
    ),
})

function report(rolled: readonly Rolled[], from: string | undefined): Finding {
  const problems = rolled.flatMap((result) => result.problems)
  const passed = problems.length === 0
  console.log(`rolling: ${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`)
  return {
    passed,
    result: {
      name: 'rolling',
      content: { passed, from: from ?? 'this tree', rolled, problems },
      isOneOfMany: true,
    },
  }
}
