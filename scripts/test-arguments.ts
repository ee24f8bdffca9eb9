/** Why these arguments of `npm test` are refused, or null. */
export function whyRefused(args: readonly string[]): string | null {
  // npm takes the first for itself. After another one Vitest reads nothing, and would run everything.
  if (args.includes('--')) return 'One `--` is enough: npm test -- gateway/trades'
  return null
}
