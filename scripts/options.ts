import { parseArgs } from 'node:util'

/**
 * `flags`: options without a value, by name, each with what it does. `others`: what the remaining argument is. If it
 * ends with an ellipsis, there can be several.
 */
export type Usage = { command: string; flags: Record<string, string>; others?: string }

export type ReadOptions =
  | { kind: 'run'; flags: ReadonlySet<string>; others: string[] }
  | { kind: 'help'; text: string }
  | { kind: 'refused'; text: string }

/** Reads the arguments of a command. Refuses unknown and superfluous arguments, which would have no effect. */
export function readOptions(args: readonly string[], usage: Usage): ReadOptions {
  const names = Object.keys(usage.flags)
  const options = Object.fromEntries([...names, 'help'].map((name) => [name, { type: 'boolean' as const }]))
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: usage.others !== undefined,
    })
    if (values.help === true) return { kind: 'help', text: helpOf(usage) }
    if (positionals.length > 1 && usage.others?.endsWith('…') === false)
      throw new Error(`Unexpected argument '${positionals[1]}': there can be only one ${usage.others}.`)
    return { kind: 'run', flags: new Set(Object.keys(values)), others: positionals }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { kind: 'refused', text: `${problem}\n\n${helpOf(usage)}` }
  }
}

function helpOf({ command, flags, others }: Usage): string {
  const lines = Object.entries(flags).map(([name, does]) => `  --${name.padEnd(10)} ${does}`)
  return [`${command}${others === undefined ? '' : ` -- [${others}]`}`, ...lines].join('\n')
}

/** Reads the arguments of this process. Ends it, before it has done anything, if they ask for help or are refused. */
export function optionsOfProcess(usage: Usage): Extract<ReadOptions, { kind: 'run' }> {
  const read = readOptions(process.argv.slice(2), usage)
  if (read.kind === 'run') return read
  if (read.kind === 'help') console.log(read.text)
  else console.error(read.text)
  process.exit(read.kind === 'help' ? 0 : 2)
}
