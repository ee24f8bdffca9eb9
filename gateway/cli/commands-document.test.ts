import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { DEFAULT_RULES } from '../pricing/price.ts'
import { leastCommissionBps } from '../pricing/settings.ts'
import { SHAPES } from '../testing/command-shapes.ts'
import { allCommands } from './app.ts'

const names = allCommands().map(({ name }) => name)

/** Returns the names of all fields of a shape, including those of nested lists and objects. */
function fieldsOf(shape: z.core.$ZodType): string[] {
  if (shape instanceof z.ZodObject) {
    return Object.entries(shape.shape).flatMap(([field, inner]) => [field, ...fieldsOf(inner)])
  }
  if (shape instanceof z.ZodArray) return fieldsOf(shape.element)
  if (shape instanceof z.ZodNullable) return fieldsOf(shape.unwrap())
  return []
}

it.each(['docs/commands.md', 'docs/operating.md', 'gateway/cli/commands/store.ts'])(
  '%s shows a commission that the default settings accept',
  (file) => {
    const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
    const shown = [...text.matchAll(/--commission (\d\d)\.(\d\d)/g)].map((match) => `${match[1]}${match[2]}`)
    const leastBps = Math.max(...Object.values(DEFAULT_RULES).map(leastCommissionBps))
    expect(shown.map((bps) => Number(bps) >= leastBps)).toEqual([true])
  },
)

describe('docs/commands.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `([a-z-]+(?: [a-z-]+)?)` \|[^|]*\| ([^|]*) \|$/gm)]
  const documented = new Map(rows.map(([, name = '', fields = '']) => [name, fields]))

  it('lists every command and no other, in the order of the help', () => {
    expect([...documented.keys()]).toEqual(names)
  })

  it('names every act and nothing else in its section about acts', () => {
    const acts = allCommands().filter(({ command }) => 'reason' in (command.parameters.flags ?? {}))
    const part = text.slice(text.indexOf('## Acts'), text.indexOf('## All commands'))
    const named = [...part.matchAll(/`([a-z-]+ [a-z-]+)`/g)].map(([, name]) => name)
    expect(named.sort()).toEqual(acts.map(({ name }) => name).sort())
  })

  it('names every act that requires a reason and no other act in its section about records', () => {
    const acts = allCommands().filter(({ command }) => {
      const { reason } = z
        .object({ reason: z.object({ optional: z.boolean().optional() }).optional() })
        .parse(command.parameters.flags ?? {})
      return reason !== undefined && reason.optional !== true
    })
    const part = text.slice(text.indexOf('- **Why**'), text.indexOf('- **What**'))
    const named = [...part.matchAll(/`([a-z-]+ [a-z-]+)`/g)].map(([, name]) => name)
    expect(named.sort()).toEqual(acts.map(({ name }) => name).sort())
  })

  it('and the other files of its folder contain no line of SQL', () => {
    const folder = join(import.meta.dirname, '../../docs')
    const files = readdirSync(folder).filter((file) => file.endsWith('.md'))
    const sqlLine = /^(?:```sql|(?:select|insert into|update|delete from|create|alter|drop) \w+[^|]*;?$)/im
    expect(files.length).toBeGreaterThan(8)
    expect(files.filter((file) => sqlLine.test(readFileSync(join(folder, file), 'utf8')))).toEqual([])
  })

  it.each(names)('names the fields of %s', (name) => {
    const named = [...(documented.get(name) ?? '').matchAll(/`(\w+)`/g)].map(([, field = '']) => field)
    expect([...new Set(named)].sort()).toEqual([...new Set(fieldsOf(SHAPES[name] ?? z.never()))].sort())
  })
})
