import { render } from 'preact';
import { App } from './app.js';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';

const root = document.getElementById('console');
if (root !== null) render(<App />, root);
