import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseJson } from './http.ts'
import { isWorld, type World } from './world/world.ts'

const SAVE_AFTER_MS = 50

/** Holds the world. With a file, it saves the world there soon after each change, and on request. */
export function createKeeper(file: string | undefined, createEmpty: () => World) {
  let world = (file && load(file)) || createEmpty()
  let timer: NodeJS.Timeout | undefined
  const save = () => {
    clearTimeout(timer)
    timer = undefined
    if (!file) return
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.new`, JSON.stringify(world))
    renameSync(`${file}.new`, file)
  }
  return {
    world: () => world,
    keep(next: World) {
      if (next === world) return
      world = next
      if (file) timer ??= setTimeout(save, SAVE_AFTER_MS)
    },
    save,
  }
}

function load(file: string): World | undefined {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const world = parseJson(content)
  if (!isWorld(world)) throw new Error(`${file} is not a world of this sandbox. Remove it to start over.`)
  return world
}
