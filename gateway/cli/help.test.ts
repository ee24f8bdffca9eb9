/** Compares the help of each command with its real arguments. */
import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/command.ts'
import { allCommands } from './app.ts'

/** Nothing listens there. Help must not need the database. */
const NOWHERE = 'postgres://nobody@127.0.0.1:9/none'

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

async function helpOf(name: string): Promise<{ usage: string; out: string }> {
  const { out, errors, code } = await runCommand([...name.split(' '), '--help'], { databaseUrl: NOWHERE })
  expect({ errors, code }).toEqual({ errors: '', code: 0 })
  return { usage: out.split('\n')[1] ?? '', out }
}

describe.each(allCommands())('help of $name', ({ name, does, command: { parameters } }) => {
  const options = Object.entries(parameters.flags ?? {})
  const positional = parameters.positional
  const isList = positional?.kind === 'array'
  const listed = isList ? [positional.parameter] : []
  const args = positional?.kind === 'tuple' ? positional.parameters : listed

  it('shows the usage, with required options in round brackets', async () => {
    const { usage } = await helpOf(name)
    const words = options.map(([option, { kind, optional = false, ...rest }]) => {
      const isNeeded = !optional && !('default' in rest && rest.default !== undefined)
      const [open, close] = isNeeded ? ['(', ')'] : ['[', ']']
      const placeholder = 'placeholder' in rest && kind === 'parsed' ? ` ${rest.placeholder}` : ''
      const values = 'values' in rest ? ` ${rest.values.join('|')}` : ''
      const isMany = kind === 'parsed' && 'variadic' in rest && rest.variadic === true
      return `${open}--${kebab(option)}${placeholder}${values}${close}${isMany ? '...' : ''}`
    })
    const shown = args.map(({ placeholder }) => `<${placeholder}>${isList ? '...' : ''}`)
    expect(usage.trim()).toBe(['tradetill', name, ...words, ...shown].join(' '))
  })

  it('explains each argument and option, and gives an example of the command', async () => {
    const { out } = await helpOf(name)
    expect(out).toContain(`\n${does}\n`)
    expect(out).toContain(`\nEXAMPLE\n  npm run --silent tradetill -- ${name}`)
    for (const { brief, placeholder } of args) expect(out).toMatch(lineOf(`${placeholder}`, brief))
    for (const [option, { brief }] of options) expect(out).toMatch(lineOf(`--${kebab(option)}`, brief))
  })

  it('says of each option that can be given several times that it can', () => {
    const briefs = options.flatMap(([, flag]) => ('variadic' in flag && flag.variadic ? [flag.brief] : []))
    for (const brief of briefs) expect(brief).toContain('can be given several times')
  })

  it('has an example that the command accepts: the run fails because it reaches no database, till or handler', async () => {
    const { out } = await helpOf(name)
    const example = /^ {2}npm run --silent tradetill -- (.*)$/m.exec(out)?.[1] ?? ''
    // The reader's own till or store may listen at an address of the examples.
    const nowhere = example.replaceAll(/localhost:\d+/g, 'localhost:9')
    const answer = await runCommand(wordsOf(nowhere), { databaseUrl: NOWHERE })
    // The doctor runs without a database and reports that it is missing.
    const expected =
      name === 'doctor' ? { code: 1, errors: 'to fix' } : { code: 5, errors: 'cannot be reached' }
    expect(answer).toMatchObject({ ...expected, errors: expect.stringContaining(expected.errors) })
  })
})

function lineOf(head: string, brief: string): RegExp {
  const plain = (text: string) => text.replace(/[^\w\s-]/g, '\\$&')
  return new RegExp(`^ .*${plain(head)}\\b.* ${plain(brief)}`, 'm')
}

/** Splits a line into arguments as a shell does. Redirections are left out. */
function wordsOf(line: string): string[] {
  const [before = ''] = line.split(/ [<>] /)
  return [...before.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}
