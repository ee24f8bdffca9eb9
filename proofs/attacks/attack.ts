/** A family of attacks: its cases, the lines of defence that they reach, and how each of those is switched off. */
import type { Target } from './target.ts'

/** One place of a source, replaced while the defence is off. `from` stands there exactly once. */
export type Change = { file: string; from: string; to: string }

export type Defence = {
  /** Where it stands: the file, and the function or constant in it. */
  at: string
  /** The places that are replaced; several where one layer covers for another. */
  off: readonly Change[]
}

export type Case<D extends string = string> = {
  what: string
  /** The defence that stops it. */
  by: D
  /** Undefined when the attack came to nothing, else what came of it. */
  attack(): Promise<string | undefined> | string | undefined
}

export type Family<D extends string = string> = {
  /** Of the table of families. */
  number: number
  name: string
  defences: Record<D, Defence>
} & (
  | {
      kind: 'pure'
      cases(): readonly Case<D>[]
      /** Honest calls work with the defence and without it. Undefined when they do. */
      honest(): Promise<string | undefined> | string | undefined
    }
  | {
      kind: 'till'
      cases(target: Target): Promise<readonly Case<D>[]> | readonly Case<D>[]
      honest(target: Target): Promise<string | undefined>
    }
)

/** Infers the names of the defences, so a case can name no other. */
export const family = <D extends string>(one: Family<D>): Family<D> => one
