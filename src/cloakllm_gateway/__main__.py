"""``python -m cloakllm_gateway`` is the command ``cloakllm-gateway``."""

from cloakllm_gateway.cli import main

if __name__ == "__main__":
    main()
