/** `npm run prove -- cut`: cuts the connection at every message of the crediting transaction, and at random bytes. */
import { z } from 'zod'
import { count, defineProof, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import { cutSockets } from './socket.ts'

const MOST_PRINTED = 20

export const cutProof = defineProof({
  options: z.object({
    rounds: count(200, 'how many cuts at random bytes'),
    seed: count(1, 'chooses the random bytes to cut at'),
    keep: keepFlag(),
  }),
  run: ({ rounds, seed }) =>
    withServer(async (serverUrl) => {
      const report = await cutSockets({ serverUrl, everyMessage: true, offsets: rounds, seed })
      const { uncut, cuts, creditedUnheard, problems } = report
      const { messages, bytes } = uncut
      // At least one cut must fall between a commit and its answer, or that case was not tested.
      const passed = problems.length === 0 && cuts >= messages && creditedUnheard > 0
      for (const problem of problems.slice(0, MOST_PRINTED)) console.log(problem)
      console.log(
        `cut: ${cuts} cuts in a transaction of ${messages} messages and ${bytes} bytes, ${creditedUnheard} credited without an answer, ` +
          `${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`,
      )
      const content = { passed, rounds, seed, messages, bytes, cuts, creditedUnheard, problems }
      return { passed, result: { name: 'cut', content } }
    }),
})
