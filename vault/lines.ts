/** Repeats the lines of the vault, each at its own pace. */
import type { WorkLine } from './rounds.ts'

type Parts = {
  stop: AbortSignal
  /** The pause between two rounds of a line. Ends early at the stop. */
  pause(hasSucceeded: boolean): Promise<void>
  onFailure(line: string, error: unknown): void
}

/** Resolves after the stop, once each line has finished its round. */
export async function repeat(lines: readonly WorkLine[], { stop, pause, onFailure }: Parts): Promise<void> {
  const repeatLine = async ({ name, round }: WorkLine): Promise<void> => {
    while (!stop.aborted) {
      const hasSucceeded = await round().then(
        () => true,
        (error: unknown) => {
          onFailure(name, error)
          return false
        },
      )
      await pause(hasSucceeded)
    }
  }
  await Promise.all(lines.map(repeatLine))
}
