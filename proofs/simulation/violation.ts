/** The names of the promises that the simulations check. docs/proofs.md explains them. */
export type PromiseName =
  | 'I1'
  | 'I2'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I6'
  | 'I7'
  | 'I8'
  | 'I9'
  | 'I10'
  | 'I11'
  | 'I12'
  | 'I13'
  | 'I14'
  | 'I15'
  | 'I16'
  | 'I17'
  | 'I18'
  | 'I19'
  | 'I20'
  | 'I21'
  | 'I22'
  | 'I23'
  | 'I24'
  | 'I25'
  | 'I26'
  /** An unexpected error. */
  | 'defect'

export class Violation extends Error {
  readonly promiseName: PromiseName

  constructor(promiseName: PromiseName, message: string, cause?: unknown) {
    super(`${promiseName}: ${message}`, cause === undefined ? {} : { cause })
    this.promiseName = promiseName
  }
}

/** Throws a violation of the promise if the condition is false. */
export function must(condition: boolean, promiseName: PromiseName, message: () => string): void {
  if (!condition) throw new Violation(promiseName, message())
}
