/** `npm run prove -- kill-sales`: kills gateway and vault in the middle of sales. */
import { z } from 'zod'
import { count, defineProof, type Finding, keepFlag } from '../../proof.ts'
import { withServer } from '../../server.ts'
import type { TakenBack } from './check.ts'
import { type KilledSales, killSales } from './rounds.ts'

/**
 * A simulated Steam has enough items for this many rounds. Then the books are compared, and a new world begins: another
 * Steam, till, vault and markets.
 */
const ROUNDS_A_WORLD = 20

export const killSalesProof = defineProof({
  options: z.object({
    rounds: count(60, 'how many rounds of start and kill'),
    seed: count(1, 'decides when to kill, and what shoppers and buyers do'),
    keep: keepFlag(),
  }),
  run: ({ rounds, seed }) => withServer(async (url) => report(await play(url, rounds, seed), seed)),
})

async function play(serverUrl: string, rounds: number, seed: number): Promise<KilledSales[]> {
  const worlds: KilledSales[] = []
  for (let roundsDone = 0; roundsDone < rounds; roundsDone += ROUNDS_A_WORLD) {
    const roundsHere = Math.min(ROUNDS_A_WORLD, rounds - roundsDone)
    const world = await killSales(serverUrl, { rounds: roundsHere, seed: seed * 1_000 + worlds.length })
    worlds.push(world)
    const { bought, books, problems } = world
    const verdict = problems.length === 0 ? 'nothing lost, nothing sold twice' : problems.join('; ')
    console.log(
      `${roundsDone + roundsHere} rounds: ${bought} bought, ${books.paid} paid, ${books.cancelled} cancelled, ` +
        `${books.reversed} reversed; Steam took back ${takenBackLine(books.takenBack)}; ${verdict}`,
    )
  }
  return worlds
}

const takenBackLine = ({ deposited, given, sold }: TakenBack): string =>
  `${deposited} items of deposits, ${given} that bots gave and ${sold} that buyers received`

function report(worlds: readonly KilledSales[], seed: number): Finding {
  const problems = worlds.flatMap((world) => world.problems)
  const sum = (count: (world: KilledSales) => number): number =>
    worlds.reduce((total, world) => total + count(world), 0)
  const caught: Record<string, number> = {}
  for (const [entryKind, times] of worlds.flatMap((world) => Object.entries(world.caught)))
    caught[entryKind] = (caught[entryKind] ?? 0) + times
  const dealsCaught = sum((world) => world.dealsCaught)
  if (dealsCaught === 0) problems.push('the vault never died during a deal, so nothing is proved about deals')
  const takenBack = {
    deposited: sum(({ books }) => books.takenBack.deposited),
    given: sum(({ books }) => books.takenBack.given),
    sold: sum(({ books }) => books.takenBack.sold),
  }
  if (Object.values(takenBack).some((items) => items === 0))
    problems.push(`Steam took back ${takenBackLine(takenBack)}, so nothing is proved about one of the three`)
  const rounds = sum((world) => world.rounds)
  const passed = problems.length === 0
  console.log(`the vault died after: ${JSON.stringify(caught)}`)
  console.log(`kill-sales: ${rounds} rounds, ${problems.length} problems ${passed ? 'PASS' : 'FAIL'}`)
  const content = {
    passed,
    rounds,
    seed,
    bought: sum(({ bought }) => bought),
    moved: sum(({ books }) => books.moved),
    paid: sum(({ books }) => books.paid),
    cancelled: sum(({ books }) => books.cancelled),
    reversed: sum(({ books }) => books.reversed),
    receivedCents: sum(({ books }) => books.receivedCents),
    dealsCaught,
    takenBack,
    caught,
    problems,
  }
  return { passed, result: { name: 'kill-sales', content } }
}
