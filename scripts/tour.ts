/** The tour of `npm start`: buttons on the sandbox's page play scenes with real calls. */
import { SCENES } from './tour-scenes.ts'
import { createStage, reasonOf, type TourSetup } from './tour-stage.ts'

export async function beginTour(setup: TourSetup): Promise<{ play(name: string): Promise<void> }> {
  const stage = createStage(setup)
  const scenes = SCENES.map(({ name, title, line }) => ({ name, title, line }))
  await stage.sandbox('PUT', '/control/tour', { scenes })
  return {
    async play(name) {
      const scene = SCENES.find((known) => known.name === name)
      if (scene === undefined) return
      const result = await scene.play(stage).then(
        (played) => ({ state: 'done', ...played }),
        (error: unknown) => ({ state: 'failed', summary: `It did not work: ${reasonOf(error)}`, links: [] }),
      )
      await stage.sandbox('PUT', `/control/tour/${name}`, result)
    },
  }
}
