/** A tour of scenes, each with a button. Another process plays them: the sandbox does not know what a scene does. */
import { field } from './http.ts'

export type Link = { label: string; url: string }

export type Scene = {
  name: string
  title: string
  line: string
  state: 'ready' | 'playing' | 'done' | 'failed'
  /** The result in a sentence or two. Empty until the scene has played. */
  summary: string
  /** Links to pages that show the result. */
  links: Link[]
}

export type Tour = ReturnType<typeof createTour>

const MOST_SCENES = 20
const MOST_LINKS = 10

/** `onPressed` is called with the scene that a visitor wants to see. */
export function createTour(onPressed: (name: string) => void) {
  let scenes: Scene[] = []
  const change = (name: string, part: Partial<Scene>): boolean => {
    if (!scenes.some((scene) => scene.name === name)) return false
    scenes = scenes.map((scene) => (scene.name === name ? { ...scene, ...part } : scene))
    return true
  }
  const isPlaying = (): boolean => scenes.some(({ state }) => state === 'playing')
  return {
    scenes: () => scenes,
    isPlaying,
    /** Sets the scenes. Returns false if they do not have the expected form. */
    set(body: unknown): boolean {
      const rows = field(body, 'scenes')
      if (!Array.isArray(rows) || rows.length > MOST_SCENES) return false
      const parsed = rows.map(sceneOf)
      if (!parsed.every((scene) => scene !== undefined)) return false
      scenes = parsed
      return true
    },
    /** Sets the result of a scene. Returns false if the scene is unknown or the result lacks the expected form. */
    setResult(name: string, body: unknown): boolean {
      const [state, summary, links] = [
        field(body, 'state'),
        field(body, 'summary'),
        linksOf(field(body, 'links')),
      ]
      if ((state !== 'done' && state !== 'failed') || typeof summary !== 'string' || links === undefined)
        return false
      return change(name, { state, summary, links })
    },
    /**
     * Marks a scene as playing and calls `onPressed`. Returns false for an unknown scene, or while any scene plays: all
     * scenes share the clock.
     */
    press(name: string): boolean {
      if (isPlaying() || !change(name, { state: 'playing', summary: '', links: [] })) return false
      onPressed(name)
      return true
    },
  }
}

function sceneOf(row: unknown): Scene | undefined {
  const [name, title, line] = [field(row, 'name'), field(row, 'title'), field(row, 'line')]
  if (typeof name !== 'string' || typeof title !== 'string' || typeof line !== 'string') return undefined
  return { name, title, line, state: 'ready', summary: '', links: [] }
}

function linksOf(rows: unknown): Link[] | undefined {
  if (!Array.isArray(rows) || rows.length > MOST_LINKS) return undefined
  const parsed = rows.map((row) => {
    const [label, url] = [field(row, 'label'), field(row, 'url')]
    return typeof label === 'string' && typeof url === 'string' && /^http:\/\/localhost:\d+\//.test(url)
      ? { label, url }
      : undefined
  })
  return parsed.every((link) => link !== undefined) ? parsed : undefined
}
