/**
 * `npm run prove -- NAME [options]`: the long proofs. `npm run prove` lists them with their options.
 * Exit code 0: passed; 1: failed; 2: the command could not do what was asked.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Proof, Refusal } from './proof.ts'
import { cleanCommit, keepResult } from './results.ts'

export type Entry = { about: string; load(): Promise<Proof> }

/** The proofs. Each is loaded only when needed, because together they import most of the project. */
const PROOFS: Record<string, Entry> = {
  simulate: {
    about: 'deposits simulated under every fault, by seeds',
    load: async () => (await import('./simulation/prove.ts')).simulateProof,
  },
  night: {
    about: 'the simulation with new seeds until its time is up; stores the seeds that fail',
    load: async () => (await import('./simulation/night.ts')).nightProof,
  },
  defects: {
    about: 'known defects, planted one at a time: a seed must find each',
    load: async () => (await import('./simulation/defects.ts')).defectsProof,
  },
  kill: {
    about: 'the real gateway under load, killed again and again',
    load: async () => (await import('./kill/prove.ts')).killProof,
  },
  failover: {
    about: 'the database fails in seven ways under load of the real gateway, and comes back or is replaced',
    load: async () => (await import('./failover/prove.ts')).failoverProof,
  },
  cut: {
    about: 'the connection to PostgreSQL cut inside the crediting transaction',
    load: async () => (await import('./cut/prove.ts')).cutProof,
  },
  restore: {
    about:
      'a database lost under load and restored: no event number used twice, orphaned offers cancelled or reported',
    load: async () => (await import('./restore/prove.ts')).restoreProof,
  },
  rolling: {
    about:
      'gateways behind a balancer, replaced one after the other under load; the first ones can be of another commit',
    load: async () => (await import('./rolling/prove.ts')).rollingProof,
  },
  year: {
    about: 'the rows of a year of deposits: no automatic statement reads all of a growing table',
    load: async () => (await import('./year/prove.ts')).yearProof,
  },
  sale: {
    about:
      'one item from a shopper’s browser to the payment by an outside market, with all parts of npm start',
    load: async () => (await import('./sale/prove.ts')).saleProof,
  },
  sales: {
    about: 'sales simulated under every fault and lie, by seeds; then known defects that a seed must find',
    load: async () => (await import('./sales/prove.ts')).salesProof,
  },
  'kill-sales': {
    about: 'the real gateway and vault in the middle of sales, killed again and again',
    load: async () => (await import('./sales/kill/prove.ts')).killSalesProof,
  },
  deploy: {
    about: 'the deployment files, checked by the real programs; lists the missing ones',
    load: async () => (await import('./deploy/prove.ts')).deployProof,
  },
  recipes: {
    about:
      'the example stores of the documents, in every installed language, verified and paid through a till',
    load: async () => (await import('./recipes/prove.ts')).recipesProof,
  },
  engines: {
    about: 'a deposit on its page and in a frame, in every browser engine that is installed',
    load: async () => (await import('./engines/prove.ts')).enginesProof,
  },
  attacks: {
    about:
      'families of attacks on the routes and on parts of the sources, and again with each defence switched off',
    load: async () => (await import('./attacks/prove.ts')).attacksProof,
  },
  mutate: {
    about:
      'the pure money core, changed one expression at a time: tests must find at least 97 % of the changes',
    load: async () => (await import('./mutation/prove.ts')).mutateProof,
  },
}

type Command = { proofs: Record<string, Entry>; root: string; print(line: string): void }

/** Resolves to the exit code. */
export async function prove(args: readonly string[], command: Command): Promise<number> {
  const { proofs, print } = command
  const [name, ...rest] = args
  if (name === undefined || name === '--help') {
    print('npm run prove -- NAME [options]')
    for (const [each, entry] of Object.entries(proofs)) await printHelp(each, entry, print)
    return 0
  }
  try {
    const entry = Object.hasOwn(proofs, name) ? proofs[name] : undefined
    if (entry === undefined) {
      throw new Refusal(`There is no proof ${name}, only ${Object.keys(proofs).join(', ')}`)
    }
    if (rest.includes('--help')) {
      await printHelp(name, entry, print)
      return 0
    }
    return await runProof(await entry.load(), rest, command)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    print(error.message)
    return 2
  }
}

async function printHelp(name: string, { about, load }: Entry, print: Command['print']): Promise<void> {
  print(`\n${name}: ${about}`)
  const { options } = await load()
  for (const [option, schema] of Object.entries(options.shape)) {
    print(`  --${option.padEnd(8)} ${schema.description ?? ''}`)
  }
}

async function runProof(proof: Proof, args: string[], { root, print }: Command): Promise<number> {
  const given = parseOptions(proof, args)
  // Checked before the run, because hours later it would be too late to commit.
  const commit = given.keep === true ? cleanCommit(root) : undefined
  const { passed, result } = await proof.run(given)
  if (commit !== undefined && result !== undefined) {
    if (cleanCommit(root) !== commit)
      throw new Refusal('Not kept: HEAD is another commit than at the start of the run')
    print(`written to ${keepResult({ root, commit, ...result })}`)
  }
  return passed ? 0 : 1
}

function parseOptions(proof: Proof, args: string[]): Record<string, unknown> {
  const given = readOptions(proof, args)
  const { success, error } = proof.options.safeParse(given)
  if (success) return given
  const problems = error.issues.map(({ path, message }) => `--${path.join()}: ${message}`)
  throw new Refusal(problems.join('\n'))
}

function readOptions({ options }: Proof, args: string[]): Record<string, unknown> {
  const isFlag = (name: string): boolean => options.shape[name]?.safeParse(true).success === true
  const types = Object.keys(options.shape).map((name) => {
    const type = isFlag(name) ? ('boolean' as const) : ('string' as const)
    return [name, { type }] as const
  })
  try {
    return { ...parseArgs({ args, options: Object.fromEntries(types) }).values }
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message : String(error))
  }
}

if (import.meta.main) {
  const command = { proofs: PROOFS, root: join(import.meta.dirname, '..'), print: console.log }
  process.exitCode = await prove(process.argv.slice(2), command)
}
