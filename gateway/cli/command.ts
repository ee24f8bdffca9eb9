/**
 * Defines a command by its arguments, purpose and example, all of which its help shows. The operation is loaded only
 * when the command runs.
 */
import { buildCommand, type CommandContext, type TypedCommandParameters } from '@stricli/core'
import { isRelease } from '../kit/release.ts'
import type { Answer } from '../operations/operation.ts'
import type { Session } from './session.ts'

export type CommandLine = CommandContext & {
  session: Session
  /** Runs the operation and writes its answer. */
  conclude<T>(operation: () => Promise<Answer<T>>, format?: AnswerFormat<T>): Promise<void>
}

/** Formats an answer for people. */
export type AnswerFormat<T> = {
  lines(data: T): readonly string[]
  /** Printed on stderr if there are no lines. */
  ifEmpty: string
}

/** Flags of every command. */
export type FindFlags = { json?: boolean }

/** Flags of every act. */
export type ActFlags = FindFlags & { by?: string; reason?: string }

/** Flags of an act that needs a reason, such as one that moves money or removes something. */
export type SeriousFlags = FindFlags & { by?: string; reason: string }

const text = (value: string): string => value
const REASON = { kind: 'parsed', parse: text, placeholder: 'TEXT' } as const

export const FIND = {
  json: { kind: 'boolean', brief: 'print one line of JSON', optional: true, withNegated: false },
} as const

const BY = {
  kind: 'parsed',
  parse: text,
  brief: 'name of the operator, for the record; default: TRADETILL_OPERATOR, or the user of this machine',
  placeholder: 'NAME',
  optional: true,
} as const

export const ACT = {
  ...FIND,
  by: BY,
  reason: { ...REASON, brief: 'the reason, for the record', optional: true },
} as const

export const SERIOUS_ACT = {
  ...FIND,
  by: BY,
  reason: { ...REASON, brief: 'the reason, for the record' },
} as const

/** Flag that limits a list to one bot. */
export const OF_BOT = {
  kind: 'parsed',
  parse: text,
  brief: 'only this bot: its number or Steam id',
  placeholder: 'BOT',
  optional: true,
} as const

type Flags<FLAGS> = Readonly<Partial<Record<keyof FLAGS, unknown>>>

type Definition<FLAGS extends Flags<FLAGS>, ARGS extends readonly unknown[], DATA> = {
  /** Purpose of the command, as its help shows it. */
  does: string
  /** The words after `tradetill`. */
  example: string
  parameters: NoInfer<TypedCommandParameters<FLAGS, ARGS, CommandLine>>
  load(): Promise<(session: Session, flags: FLAGS, ...args: ARGS) => Promise<Answer<DATA>>>
  /** Formats the answer for people. Without it, the message of the answer is printed. */
  lines?: (data: NoInfer<DATA>, flags: NoInfer<FLAGS>) => readonly string[]
  /** Printed if there are no lines. */
  ifEmpty?: string
}

export function command<const FLAGS extends Flags<FLAGS>, const ARGS extends readonly unknown[], const DATA>({
  does,
  example,
  parameters,
  load,
  lines,
  ifEmpty = 'Nothing to show.',
}: Definition<FLAGS, ARGS, DATA>) {
  return buildCommand<FLAGS, ARGS, CommandLine>({
    docs: { brief: does, fullDescription: `${does}\n\nEXAMPLE\n  ${exampleOf(example)}` },
    parameters,
    loader: async () => {
      const run = await load()
      return async function (this: CommandLine, flags: FLAGS, ...args: ARGS) {
        const format = lines && { lines: (data: DATA) => lines(data, flags), ifEmpty }
        await this.conclude(() => run(this.session, flags, ...args), format)
      }
    },
  })
}

/** Prefix of every command that an operator types. */
export const PREFIX = isRelease() ? 'tradetill' : 'npm run --silent tradetill --'

const exampleOf = (example: string): string => `${PREFIX} ${example}`
