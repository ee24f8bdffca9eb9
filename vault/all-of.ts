/** Runs every task, one after the other, even if an earlier one fails. Then throws the first failure. */
export async function allOf(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const failed: unknown[] = []
  for (const task of tasks) await task().catch((error: unknown) => void failed.push(error))
  if (failed.length > 0) throw failed[0]
}
