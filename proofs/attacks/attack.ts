/** A family of attacks: its cases, the defences that they meet, and how each defence is switched off. */
import type { Target } from './target.ts'

/** A piece of source code, replaced while the defence is off. `from` occurs in the file exactly once. */
export type Change = { file: string; from: string; to: string }

export type Defence = {
  /** Its place: the file, and the function or constant. */
  at: string
  /** The pieces to replace; several if one layer covers for another. */
  off: readonly Change[]
}

export type Case<D extends string = string> = {
  what: string
  /** The defence that stops it. */
  by: D
  /** Undefined if the attack failed, else its result. */
  attack(): Promise<string | undefined> | string | undefined
}

export type Family<D extends string = string> = {
  /** The number in the table of families. */
  number: number
  name: string
  defences: Record<D, Defence>
} & (
  | {
      kind: 'pure'
      cases(): readonly Case<D>[]
      /** Checks that honest calls work with and without the defence. Undefined if they do. */
      honest(): Promise<string | undefined> | string | undefined
    }
  | {
      kind: 'till'
      cases(target: Target): Promise<readonly Case<D>[]> | readonly Case<D>[]
      honest(target: Target): Promise<string | undefined>
    }
)

/** Infers the names of the defences, so a case cannot name any other. */
export const family = <D extends string>(one: Family<D>): Family<D> => one
