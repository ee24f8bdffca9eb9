/** The example stores of the documents, each started as its document says. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../e2e/support/process.ts'

const ROOT = join(import.meta.dirname, '../..')
const RECIPES = join(ROOT, 'docs/recipes')

export type Recipe = {
  name: string
  /** A command that ends with 0 if the interpreter works on this machine. */
  probe: readonly [command: string, ...args: string[]]
  /** Writes the store into a folder. */
  write(folder: string): void
  /** The commands that start the store's processes. */
  commands(port: number): readonly (readonly [command: string, ...args: string[]])[]
}

const copyRecipe = (file: string) => (folder: string) => copyFileSync(join(RECIPES, file), join(folder, file))

export const RECIPES_OF_DOCUMENTS: readonly Recipe[] = [
  {
    name: 'Node',
    probe: [process.execPath, '--version'],
    write(folder) {
      const guide = readFileSync(join(ROOT, 'docs/store-guide.md'), 'utf8')
      writeFileSync(join(folder, 'shop.mts'), /```ts\n([\s\S]*?)```/.exec(guide)?.[1] ?? '')
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    },
    commands: () => [[process.execPath, 'shop.mts']],
  },
  {
    name: 'Python',
    probe: ['python3', '--version'],
    write: copyRecipe('shop.py'),
    commands: () => [['python3', 'shop.py']],
  },
  {
    name: 'PHP',
    // The store needs PHP's SQLite.
    probe: ['php', '-r', "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"],
    write: copyRecipe('shop.php'),
    commands: (port) => [
      ['php', '-S', `127.0.0.1:${port}`, 'shop.php'],
      ['php', 'shop.php', 'reconcile'],
    ],
  },
]

export const isInstalled = ({ probe: [command, ...args] }: Recipe): boolean =>
  spawnSync(command, args).status === 0

export type Shop = { address: string; output(): string; end(): Promise<void> }

/** Starts the store in a new folder. Resolves once it answers. */
export async function startShop(
  recipe: Recipe,
  { port, ...settings }: { port: number; url: string; key: string; secret: string },
): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-recipe-'))
  recipe.write(folder)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TILL_URL: settings.url,
    TILL_KEY: settings.key,
    TILL_SECRET: settings.secret,
    PORT: String(port),
    RECONCILE_MS: '1000',
    DATA: join(folder, 'shop.sqlite'),
    PHP_CLI_SERVER_WORKERS: '8',
  }
  let output = ''
  const children = recipe.commands(port).map(([command, ...args]) => {
    // A separate process group, because PHP's server has workers.
    const child = spawn(command, args, { cwd: folder, env, stdio: 'pipe', detached: true })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    return child
  })
  const address = `http://127.0.0.1:${port}`
  const end = async (): Promise<void> => {
    await Promise.all(children.map(endGroup))
    rmSync(folder, { recursive: true })
  }
  try {
    await eventually(`the store in ${recipe.name} answers`, async () => {
      const answer = await fetch(`${address}/balance`).catch(() => undefined)
      return answer?.ok || undefined
    })
  } catch (error) {
    await end()
    throw new Error(`${String(error)}\n${output}`)
  }
  return { address, output: () => output, end }
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid, 'SIGKILL')
  await ended
}
