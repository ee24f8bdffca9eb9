/** A family of attacks: its cases, the defences that stop them, and how to switch off each defence. */
import type { Target } from './target.ts'

/** A change of source code that switches a defence off. `from` occurs in the file exactly once. */
export type Change = { file: string; from: string; to: string }

export type Defence = {
  /** Its place in the sources: the file, and the function or constant. */
  at: string
  /** The changes that switch it off; several if another layer would still stop the attack. */
  off: readonly Change[]
}

export type Case<D extends string = string> = {
  /** The attack, in words. */
  what: string
  /** The name of the defence that stops it. */
  stoppedBy: D
  /** Resolves to undefined if the attack failed, otherwise to what it achieved. */
  attack(): Promise<string | undefined> | string | undefined
}

/**
 * `kind`: the cases of a `parts` family attack single parts of the sources, without a database. Those of a `till` family
 * attack a whole till, which needs a database.
 */
export type Family<D extends string = string> = {
  /** Its number in the table of docs/security.md. */
  number: number
  name: string
  defences: Record<D, Defence>
} & (
  | {
      kind: 'parts'
      cases(): readonly Case<D>[]
      /** Makes honest calls, which must work with and without each defence. Resolves to undefined if they do. */
      honest(): Promise<string | undefined> | string | undefined
    }
  | {
      kind: 'till'
      cases(target: Target): Promise<readonly Case<D>[]> | readonly Case<D>[]
      honest(target: Target): Promise<string | undefined>
    }
)

/** Infers the names of the defences, so the compiler accepts only these names in a case. */
export const family = <D extends string>(definition: Family<D>): Family<D> => definition
