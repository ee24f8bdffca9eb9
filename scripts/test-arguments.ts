/** Returns why these arguments of `npm test` are refused, or null. */
export function whyRefused(args: readonly string[]): string | null {
  // npm consumes the first `--`. After a second one Vitest ignores all arguments and would run everything.
  if (args.includes('--')) return 'One `--` is enough: npm test -- gateway/trades'
  return null
}
