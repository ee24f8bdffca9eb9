/** The operator's command line as a function: arguments, settings and a terminal in, an exit code out. */
import { COMMANDS, type Command, type Context, usage } from './commands.ts'
import { Refusal, type Terminal } from './terminal.ts'

export type Surroundings = {
  /** Settings; the process's own without them. */
  env?: Record<string, string | undefined> | undefined
  terminal: Terminal
}

const HELP = new Set(['--help', '-h', 'help'])

/** Runs one command. Resolves to the exit code: 0, or 1 with the reason on stderr. */
export async function runCommandLine(args: string[], surroundings: Surroundings): Promise<number> {
  const { terminal } = surroundings
  try {
    await run(args, surroundings)
    return 0
  } catch (error) {
    terminal.warn(error instanceof Error ? error.message : String(error))
    return 1
  }
}

async function run(args: string[], { env, terminal }: Surroundings): Promise<void> {
  const [noun = '', verb = '', ...rest] = args
  const asked = helpFor(args)
  if (asked !== undefined) return terminal.print(usage(asked))
  const command = COMMANDS.find(({ name }) => name === `${noun} ${verb}`)
  if (command === undefined) throw new Refusal(`${unknown(args)}${usage()}`)
  await withDatabase(env, async (context) => (await command.load())({ ...context, terminal }, rest))
}

/** The commands whose help is asked for, if it is. */
function helpFor([noun = '', verb = '', ...rest]: string[]): readonly Command[] | undefined {
  if (HELP.has(noun)) return COMMANDS
  const ofNoun = COMMANDS.filter(({ name }) => name.startsWith(`${noun} `))
  if (HELP.has(verb)) return ofNoun.length > 0 ? ofNoun : undefined
  const command = ofNoun.filter(({ name }) => name === `${noun} ${verb}`)
  const [last = ''] = rest.slice(-1)
  return command.length > 0 && (last === '--help' || last === '-h') ? command : undefined
}

const unknown = (args: string[]): string =>
  args.length === 0 ? '' : `There is no command "${args.slice(0, 2).join(' ')}".\n\n`

/** Opens the database of the running gateway, or of DATABASE_URL, for as long as `work` takes. */
async function withDatabase(
  env: Surroundings['env'],
  work: (context: Omit<Context, 'terminal'>) => Promise<void>,
): Promise<void> {
  const { databaseUrlOf } = await import('./settings.ts')
  const { config, url } = databaseUrlOf(env)
  const [{ openDatabase }, { openClock }] = await Promise.all([
    import('../db/client.ts'),
    import('../clock/service.ts'),
  ])
  const { mode } = config
  const database = openDatabase(url, 2, mode)
  try {
    await work({ config, db: database.db, clock: await openClock(database.db, mode) })
  } finally {
    await database.close()
  }
}
