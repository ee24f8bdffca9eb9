import { ExitCode, run, type StricliProcess } from '@stricli/core'
import { scrub } from '../kit/scrub.ts'
import { toJson } from '../operations/json.ts'
import type { Answer, RefusalKind } from '../operations/operation.ts'
import { APP, helpOfAll } from './app.ts'
import type { AnswerFormat } from './command.ts'
import { createSession, type Session, type Surroundings } from './session.ts'
import { printable, Refusal, type Terminal } from './terminal.ts'

/** Exit codes of the refusals, as docs/commands.md lists them. */
const EXIT_CODES: Record<RefusalKind, number> = {
  failed: 1,
  unavailable: 1,
  usage: 2,
  not_found: 3,
  conflict: 4,
  unreachable: 5,
  proposed: 6,
  damaged: 7,
}

const VERSION = new Set(['--version', '-v'])
const HELP = new Set(['help', '--help', '-h'])

/** Runs one command and resolves to its exit code. The reason for a code other than 0 is written to stderr. */
export async function runCommandLine(args: string[], surroundings: Surroundings): Promise<number> {
  const [first = 'help', ...rest] = args
  const { terminal } = surroundings
  if (HELP.has(first) && rest.length === 0) {
    terminal.print(helpOfAll())
    return 0
  }
  if (VERSION.has(first) && rest.length === 0) {
    const { buildLine, ourBuild } = await import('../db/build.ts')
    terminal.print(buildLine(ourBuild()))
    return 0
  }
  const report = createReport(terminal, args.includes('--json'))
  const session = createSession(surroundings)
  const words = first === 'help' ? [...rest, '--help'] : withStoreOption(args)
  await runCommand(words, { report, session })
  await report.attempt(() => session.close())
  const lostAnswer = await terminal.finish()
  if (lostAnswer !== undefined && report.exitCode() === 0)
    report.refuse(
      'failed',
      `The command was carried out, but its answer could not be written: ${lostAnswer.message}`,
    )
  return report.exitCode()
}

/** Scripts of operators may still use --id, the old name of the option --store. */
function withStoreOption(args: readonly string[]): string[] {
  if (args[0] !== 'store') return [...args]
  return args.map((word) => word.replace(/^--id(?==|$)/, '--store'))
}

type Report = ReturnType<typeof createReport>

/** Writes answers for a person, or as JSON for a program. */
function createReport(terminal: Terminal, isJson: boolean) {
  let exitCode = 0
  return {
    print: (text: string) => terminal.print(text.replace(/\n$/, '')),
    exitCode: () => exitCode,
    refuse(refusal: RefusalKind, text: string): void {
      // The message may quote anything, so secrets are removed.
      const message = scrub(text)
      exitCode = EXIT_CODES[refusal]
      terminal.warn(isJson ? toJson({ error: { kind: refusal, message } }) : message)
    },
    answer<T>(answer: Answer<T>, format?: AnswerFormat<T>): void {
      if (answer.data !== undefined) {
        const lines = isJson ? [toJson(answer.data)] : linesOf(answer, format?.lines(answer.data))
        for (const line of lines) terminal.print(isJson ? line : printable(line))
        // Written to stderr, because scripts count the lines of stdout.
        if (format && lines.length === 0 && answer.kind === 'done') terminal.warn(format.ifEmpty)
      }
      if (answer.kind === 'refused') this.refuse(answer.refusal, answer.message)
    },
    async attempt(work: () => Promise<void>): Promise<void> {
      try {
        await work()
      } catch (error) {
        if (error instanceof Refusal) this.refuse(error.refusal, error.message)
        else this.refuse('failed', error instanceof Error ? error.message : String(error))
      }
    },
  }
}

/** Returns the lines for stdout: `lines`, or else the message. A refusal's message is left out: it goes to stderr. */
function linesOf<T>(answer: Answer<T>, lines: readonly string[] | undefined): readonly string[] {
  if (lines !== undefined) return lines
  return answer.kind === 'refused' || answer.message === '' ? [] : [answer.message]
}

type Running = { report: Report; session: Session }

async function runCommand(args: string[], { report, session }: Running): Promise<void> {
  const complaints: string[] = []
  const process: StricliProcess = {
    stdout: { write: (text) => report.print(text) },
    stderr: { write: (text) => void complaints.push(text) },
  }
  await run(APP, args, {
    process,
    session,
    conclude: (operation, format) => report.attempt(async () => report.answer(await operation(), format)),
  })
  const code = process.exitCode ?? ExitCode.Success
  if (code === ExitCode.Success) return
  const isUsage = code === ExitCode.InvalidArgument || code === ExitCode.UnknownCommand
  report.refuse(isUsage ? 'usage' : 'failed', complaints.join('').trim())
}
