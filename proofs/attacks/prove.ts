/** `npm run prove -- attacks`: every case with all defences, then again without the defence that stops it. */
import pg from 'pg'
import { z } from 'zod'
import { createQueue } from '../../gateway/db/boss-queue.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { createLog } from '../../gateway/kit/log.ts'
import { defineProof, type Finding, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import type { Family } from './attack.ts'
import { ELSEWHERE, FAMILIES } from './families.ts'
import type * as Runner from './run.ts'
import { runFamily } from './run.ts'
import { importWithout } from './without.ts'

const TEMPLATE = 'attacks_template'
const MOST_PRINTED = 5

export const attacksProof = defineProof({
  options: z.object({
    family: z
      .string()
      .regex(/^\d+$/, 'must be the number of a family')
      .transform(Number)
      .refine((number) => FAMILIES.some((each) => each.number === number), {
        error: 'must be the number of a family that this command runs',
      })
      .optional()
      .describe('only this family, by its number'),
    keep: keepFlag(),
  }),
  run: ({ family }) =>
    withServer(async (serverUrl) => {
      const templateUrl = await makeTemplate(serverUrl)
      const chosen = FAMILIES.filter(({ number }) => family === undefined || number === family)
      return prove(chosen, templateUrl)
    }),
})

type Row = {
  family: number
  name: string
  defence: string
  /** The defence's place in the sources. */
  at: string
  cases: number
  /** How many of these cases succeeded without the defence. */
  succeeded: number
}

async function prove(chosen: readonly Family[], templateUrl: string): Promise<Finding> {
  const rows: Row[] = []
  const problems: string[] = []
  for (const family of chosen) {
    const { number, name } = family
    const withDefences = await runFamily({ number, templateUrl })
    for (const { what, result } of withDefences) {
      if (result !== undefined) problems.push(`${number} ${name}: ${what}: ${result}`)
    }
    for (const [defence, { at }] of Object.entries(family.defences)) {
      const without = await runWithout(family, defence, templateUrl)
      const cases = withDefences.filter(({ stoppedBy }) => stoppedBy === defence).length
      for (const what of without.failing.slice(0, MOST_PRINTED)) {
        console.log(`not counted: ${number} ${what} (fails even without the defence “${defence}”)`)
      }
      if (without.count === 0) problems.push(`${number} ${name}: no attack succeeds without ${defence}`)
      rows.push({ family: number, name, defence, at, cases, succeeded: without.count })
      console.log(
        `${String(number).padStart(3)} ${name} | ${defence} | ${cases} cases, ${without.count} succeed without it | ${at}`,
      )
    }
  }
  for (const problem of problems) console.log(`PROBLEM ${problem}`)
  const counted = rows.reduce((sum, { succeeded }) => sum + succeeded, 0)
  const passed = problems.length === 0
  console.log(
    `attacks: ${counted} counted cases of ${chosen.length} families, ${rows.length} defences switched off, ` +
      `${ELSEWHERE.length} families covered elsewhere ${passed ? 'PASS' : 'FAIL'}`,
  )
  const content = { passed, counted, rows, elsewhere: ELSEWHERE, problems }
  return { passed, result: { name: 'attacks', content } }
}

/** `count`: how many attacks succeed without the defence. `failing`: those that still fail. */
type WithoutDefence = { count: number; failing: string[] }

async function runWithout(
  { number, defences }: Family,
  defence: string,
  templateUrl: string,
): Promise<WithoutDefence> {
  const changes = defences[defence]?.off ?? []
  // The changed module still exports the same names, so it has the same type.
  const module = (await importWithout('proofs/attacks/run.ts', changes)) as typeof Runner
  const outcomes = await module.runFamily({ number, templateUrl, onlyDefence: defence })
  const failing = outcomes.filter(({ result }) => result === undefined).map(({ what }) => what)
  return { count: outcomes.length - failing.length, failing }
}

async function makeTemplate(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const url = new URL(serverUrl)
  url.pathname = `/${TEMPLATE}`
  await migrate({ url: url.href })
  const queue = await createQueue({ url: url.href, log: createLog({ level: 'error' }) })
  await queue.stop()
  return url.href
}
