import { Component, type ReactNode } from 'react'
import { NotFound } from './not-found.tsx'

type Props = { fallback?: ReactNode; children: ReactNode }

/** Shows `fallback`, or else a page that offers to reload, if a screen throws or its code cannot be loaded. */
export class Guard extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    return this.state.hasFailed ? (this.props.fallback ?? <NotFound isCrash />) : this.props.children
  }
}
